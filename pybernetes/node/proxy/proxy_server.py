"""kube-proxy of one node: follows the API server and has a mode bring in what changed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pybernetes.client.client import Client
from pybernetes.client.refs import ENDPOINT_SLICES, NODES, SERVICES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.lib.exposition import CONTENT_TYPE
from pybernetes.lib.flags import duration
from pybernetes.lib.http.messages import Request, Response
from pybernetes.node.proxy import backend, config, conntrack
from pybernetes.node.proxy.backend import Backend, LocalTraffic, Settings, SyncError
from pybernetes.node.proxy.change_tracker import Change, ChangeTracker
from pybernetes.node.proxy.health import Health, HealthCheckPorts
from pybernetes.node.proxy.metrics import ProxyMetrics
from pybernetes.node.proxy.rule_monitor import RuleMonitor
from pybernetes.node.proxy.service_port import Node, node_of
from pybernetes.runtime.component_server import ComponentServer, text, zpages_of
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
Object = dict[str, Any]
# Services and slices that other programs see to, and those of Services without an address.
_OURS = "!service.kubernetes.io/service-proxy-name,!service.kubernetes.io/headless"
_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
_SAME_RULES = {"userspace": "iptables"}
_LONGEST_RETRY = 30.0
_MANY = 200  # Services whose rules are more than the kernel can tell of at once


class ProxyServer:
    """Puts the parts together. One loop writes rules, so that nothing is written twice at a time."""

    def __init__(
        self,
        client: Client,
        configuration: config.Fields,
        node_name: str,
        *,
        clock: Clock | None = None,
        service_ranges: Sequence[str] = (),
        flags: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._flags = flags
        self.client, self.configuration, self.node_name = client, configuration, node_name
        self.clock = clock or Clock()
        self.mode_name = configuration["mode"] or "iptables"
        section = configuration["nftables" if self.mode_name == "nftables" else "iptables"]
        self._shortest = float(duration(str(section["minSyncPeriod"])))
        self.health = Health(self.clock, 2 * float(duration(str(section["syncPeriod"]))))
        self.tracker = ChangeTracker(Node(node_name))
        self.metrics = ProxyMetrics(self.mode_name)
        self.settings = Settings(
            Node(node_name),
            masquerade_all=section["masqueradeAll"],
            masquerade_bit=section["masqueradeBit"],
            node_port_addresses=tuple(configuration["nodePortAddresses"]),
            localhost_node_ports=configuration["iptables"]["localhostNodePorts"],
            tcp_be_liberal=configuration["conntrack"]["tcpBeLiberal"],
            service_ranges=tuple(service_ranges),
        )
        self.backends: dict[int, Backend] = {}
        self.ports = HealthCheckPorts(self.health, self._health_addresses)
        self.synced = asyncio.Event()  # set once rules have been written for the first time
        self._mode = backend.modes()[self.mode_name]
        self._wake = asyncio.Event()
        self._full: set[int] = {4}  # families whose rules are unknown
        self._watchdog = RuleMonitor(self._on_removal)
        self._servers: list[ComponentServer] = []
        self._triggers: list[float] = []
        # What was taken and is not brought in yet, because writing failed.
        self._services: set[str] = set()
        self._changes: list[Change] = []

    # -- what is seen ------------------------------------------------------------------------------------

    def _on_service(self, old: Object | None, new: Object | None) -> None:
        if self.tracker.on_service(old, new):
            self._queue()

    def _on_slice(self, old: Object | None, new: Object | None) -> None:
        if self.tracker.on_slice(old, new):
            if new is not None:
                moment = (new["metadata"].get("annotations") or {}).get(_TRIGGER)
                if moment and self.synced.is_set():
                    with contextlib.suppress(ValueError):
                        self._triggers.append(rfc3339.parse(moment))
            self._queue()

    def _on_node(self, old: Object | None, new: Object | None) -> None:
        self.health.node = new
        if new is None:
            return
        node = node_of(self.node_name, new)
        if self.tracker.on_node(node):
            self._queue()
        before = (self.settings.node.addresses, self.settings.local)
        self.settings.node = node
        self.settings.local = local_traffic(self.configuration, node)
        if before != (node.addresses, self.settings.local):
            self._full.update((4, *self.backends))
            self._queue()

    def _on_removal(self) -> None:
        self._full.update(self.backends)
        self._queue()

    def _queue(self) -> None:
        self.health.queued()
        now = self.clock.now()
        for each in self.metrics.families.values():
            each.last_queued = now
        self._wake.set()

    # -- what is done ------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follows the API server and keeps the rules until it is cancelled."""
        conntrack.limit(self.configuration["conntrack"])
        self.settings.local = local_traffic(self.configuration, self.settings.node)
        informers = [
            Informer(self.client, SERVICES, labels=_OURS, transform=_small, clock=self.clock),
            Informer(self.client, ENDPOINT_SLICES, labels=_OURS, transform=_small, clock=self.clock),
            Informer(
                self.client,
                NODES,
                fields=f"metadata.name={self.node_name}",
                transform=_small,
                clock=self.clock,
            ),
        ]
        for informer, handler in zip(
            informers, (self._on_service, self._on_slice, self._on_node), strict=True
        ):
            informer.add_handler(handler)
        tasks = [asyncio.create_task(each.run(), name=f"informer {each.ref}") for each in informers]
        try:
            await cleanup(but=self.mode_name)
            self._watchdog.start()
            await self._serve()
            for each in informers:
                await each.wait_synced()
            self._queue()
            await self._loop()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._watchdog.stop()
            for server in self._servers:
                await server.stop()
            await self.ports.stop()
            for held in self.backends.values():
                await held.close()

    async def _loop(self) -> None:
        failures = 0
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self.sync()
            except SyncError as error:
                failures += 1
                log.error("rules were not written: %s", error)
                self._wake.set()
                await self.clock.sleep(min(_LONGEST_RETRY, max(self._shortest, 0.5) * 2 ** (failures - 1)))
                continue
            failures = 0
            self.synced.set()
            # What comes up meanwhile is brought in together.
            await self.clock.sleep(self._shortest)

    async def sync(self) -> None:
        """Has rules written for what changed; SyncError if that failed, and the next time everything is written."""
        services, changes = self.tracker.take()
        self._services |= services
        self._changes += changes
        by_family: dict[int, list[Change]] = {family: [] for family in self._full}
        for change in changes:
            by_family.setdefault((change.new or change.old).family, []).append(change)  # type: ignore[union-attr]
        for family, changed in by_family.items():
            if family not in self.backends:
                self.backends[family] = self._mode(self.settings, family)
                self._full.add(family)
            await self._write(family, changed)
        services, self._services = self._services, set()
        changes, self._changes = self._changes, []
        await self.ports.sync(services, self.tracker.views)
        self.health.updated()
        await self._forget(changes)
        self._count()

    async def _write(self, family: int, changes: list[Change]) -> None:
        figures, began = self.metrics.of(family), self.clock.monotonic()
        full = family in self._full
        self._full.discard(family)  # others may remove rules meanwhile
        held = self.backends[family]
        try:
            with self._watchdog.aside(full and len(self.tracker.views) > _MANY):
                if full:
                    await held.resync(each for each in self.tracker.portals() if each.family == family)
                else:
                    await held.sync(changes)
        except SyncError:
            self._full.add(family)
            figures.failures += 1
            figures.partial_failures += not full
            raise
        took = self.clock.monotonic() - began
        figures.seconds.observe(took)
        (figures.full_seconds if full else figures.partial_seconds).observe(took)
        figures.last = self.clock.now()
        log.debug(
            "%d changes of IPv%d written in %.3f s (%s)",
            len(changes),
            family,
            took,
            "all" if full else "part",
        )

    async def _forget(self, changes: list[Change]) -> None:
        """Has the kernel forget connections that lead to targets which are gone."""
        families = {
            portal.family
            for old, portal in changes
            if portal is not None
            and portal.protocol == "udp"
            and (old is None or old.serving != portal.serving)
        }
        for family in families:
            figures, began = self.metrics.of(family), self.clock.monotonic()
            portals = [each for each in self.tracker.portals() if each.family == family]
            figures.conntrack_deleted += await conntrack.forget_stale(portals, family)
            figures.conntrack_seconds.observe(self.clock.monotonic() - began)

    def _count(self) -> None:
        now = self.clock.now()
        moments, self._triggers = self._triggers, []
        for moment in moments:
            self.metrics.of(4).programming.observe(max(0.0, now - moment))
        for family, figures in self.metrics.families.items():
            counts = {"internal": 0, "external": 0}
            for each in self.tracker.portals():
                if each.family == family and each.exists and (each.internal_local or each.external_local):
                    counts["internal"] += not each.internal_targets
                    counts["external"] += each.external and not each.external_targets
            figures.without_local = counts

    # -- what is shown -----------------------------------------------------------------------------------

    async def _health_addresses(self) -> list[str]:
        found = backend.node_port_ips(
            self.settings.node_port_addresses or ("all",),
            self.settings.node,
            4,
            await backend.own_addresses(),
        )
        return ["0.0.0.0"] if found is None else found

    async def _serve(self) -> None:
        def figures(request: Request) -> Response:
            return Response(
                self.metrics.render(self.tracker, self.health, self.backends), content_type=CONTENT_TYPE
            )

        healthy = ComponentServer({"/healthz": self.health.page, "/livez": self.health.page})
        metrics = ComponentServer(
            {
                "/metrics": figures,
                "/proxyMode": lambda request: text(self.mode_name.encode()),
                "/healthz": lambda request: text(b"ok"),
                **zpages_of("kube-proxy", self._flags, ("/metrics", "/proxyMode", "/healthz")),
            }
        )
        for server, field in ((healthy, "healthzBindAddress"), (metrics, "metricsBindAddress")):
            host, port = config.address_of(self.configuration[field])
            if not port:
                continue
            try:
                await server.start(host, port)
                self._servers.append(server)
            except OSError as error:
                if self.configuration["bindAddressHardFail"]:
                    raise
                log.error("%s: %s", field, error)


def local_traffic(configuration: config.Fields, node: Node) -> LocalTraffic:
    """How the configuration has local traffic told from other traffic."""
    mode = configuration["detectLocalMode"] or "ClusterCIDR"
    if mode == "NodeCIDR":
        return LocalTraffic(ranges=node.pod_ranges)
    if mode == "BridgeInterface":
        return LocalTraffic(interface=configuration["detectLocal"]["bridgeInterface"])
    if mode == "InterfaceNamePrefix":
        prefix = configuration["detectLocal"]["interfaceNamePrefix"]
        return LocalTraffic(interface=f"{prefix}+" if prefix else "")
    return LocalTraffic(ranges=tuple(config.cluster_ranges(configuration)))


def _small(obj: Object) -> Object:
    """An object without what nobody here looks at."""
    meta = obj["metadata"]
    if "managedFields" in meta:
        obj = {**obj, "metadata": {key: value for key, value in meta.items() if key != "managedFields"}}
    return obj


async def run(
    client: Client,
    configuration: config.Fields,
    node_name: str,
    *,
    service_ranges: Sequence[str] = (),
    flags: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Runs kube-proxy for a node in this network namespace until it is cancelled."""
    await ProxyServer(client, configuration, node_name, service_ranges=service_ranges, flags=flags).run()


async def cleanup(but: str = "") -> None:
    """Removes what any mode may have left in this network namespace; what one of them uses can be kept."""
    kept = _SAME_RULES.get(but, but)
    for name, mode in backend.modes().items():
        if _SAME_RULES.get(name, name) != kept:
            await mode.cleanup()
