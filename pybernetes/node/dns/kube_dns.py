"""kube-dns: a name server whose Corefile is made of flags and of the ConfigMap kube-dns, as upstream's kube-dns had them."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.lib.clock import Clock
from pybernetes.node.dns import config, usual, wire
from pybernetes.node.dns.config import Configuration
from pybernetes.node.dns.name_server import NameServer
from pybernetes.node.dns.plugin import Environment
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Options:
    """How kube-dns is to run."""

    addresses: tuple[str, ...] = ("127.0.0.1",)
    port: int = 53
    zone: str = "cluster.local"
    ttl: int = 30
    ranges: tuple[str, ...] = ()  # of services and pods: their reverse names are nobody else's business
    health_port: int = 0
    ready_port: int = 0
    metrics_port: int = 0
    nameservers: tuple[config.Server, ...] = field(default_factory=config.of_machine)


def corefile(options: Options, configuration: Configuration) -> str:
    """Return the Corefile that options and a configuration of other servers mean."""
    pages = (
        ("health", options.health_port),
        ("ready", options.ready_port),
        ("prometheus", options.metrics_port),
    )
    lines = [f"    {name} :{port}" for name, port in pages if port]
    blocks = [
        f"{wire.text(zone)}:{options.port} {{\n    errors\n    cache\n    {_forward(servers)}\n}}\n"
        for zone, servers in configuration.stubs.items()
    ]
    return "\n".join([
        f".:{options.port} {{", "    errors", *lines, f"    kubernetes {options.zone} in-addr.arpa ip6.arpa {{",
        "        pods insecure", "        fallthrough in-addr.arpa ip6.arpa", f"        ttl {options.ttl}", "    }",
        "    cache {", "        denial 9984 30", "    }", f"    {_forward(configuration.upstream)}", "    loadbalance",
        "    reload", "}", *blocks,
    ])  # fmt: skip


def _forward(servers: tuple[config.Server, ...]) -> str:
    if not servers:
        return "# there is nobody to ask"
    return f"forward . {usual.servers(servers[:15])}"


class KubeDns:
    """The name server of a cluster."""

    def __init__(self, client: Client, options: Options, clock: Clock | None = None) -> None:
        clock = clock or Clock()
        self.options = options
        environment = Environment(
            clock=clock, ranges=options.ranges, listen=lambda hosts, port: (options.addresses, options.port),
            show=lambda host, port: [(address, port) for address in options.addresses],
        )  # fmt: skip
        self.server, self.metrics = NameServer(client, environment), environment.metrics
        self.configuration = Configuration(options.nameservers)
        self._changed = asyncio.Event()
        self.config_map = Informer(
            client, CONFIG_MAPS, config.NAMESPACE, fields=f"metadata.name={config.NAME}", clock=clock
        )
        self.config_map.add_handler(self._configured)

    def _configured(self, old: Object | None, new: Object | None) -> None:
        try:
            data = (new or {}).get("data") or {}
            self.configuration = config.parse(data, self.options.nameservers)
            self._changed.set()
        except ValueError as error:
            log.error("the ConfigMap %s/%s: %s; what was before stays", config.NAMESPACE, config.NAME, error)

    @property
    def ready(self) -> bool:
        """Whether all names are known."""
        return self.server.ready

    async def start(self) -> None:
        """Open the sockets, and follow the API server."""
        await self.server.load(corefile(self.options, self.configuration))

    async def run(self) -> None:
        """Follow the ConfigMap until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.config_map.run())
            group.create_task(self._follow())

    async def _follow(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.server.reload(corefile(self.options, self.configuration))

    async def stop(self) -> None:
        """Close all sockets."""
        await self.server.close()
