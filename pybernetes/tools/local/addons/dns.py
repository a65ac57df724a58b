"""kube-dns of a local cluster: it runs beside the API server, and pods reach it as a service."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS, ENDPOINT_SLICES, ENDPOINTS, SERVICES, Ref
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.node.dns import config, usual
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.name_server import NameServer
from pybernetes.node.dns.plugin import Environment
from pybernetes.runtime.informer import Informer
from pybernetes.tools.local.addons import addons
from pybernetes.tools.local.addons.addons import Object, namespaced_role, role, rule
from pybernetes.tools.local.network import dns_ports

ACCOUNT = "system:serviceaccount:kube-system:kube-dns"
_NAME, _NAMESPACE = "kube-dns", "kube-system"
COREFILE = "coredns"  # the ConfigMap
_FILES = frozenset({"/etc/resolv.conf", "/etc/hosts"})
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DnsSettings:
    """Where kube-dns answers, and the address that pods know it by."""

    address: str
    service: str
    ranges: tuple[str, ...] = ()
    port: int = dns_ports.PORT
    dialer: Dialer = direct  # how servers in pods and behind services are reached
    pod: str = ""  # the pod that shows it, if one does: the service's proxy goes to pods alone


def objects(settings: DnsSettings) -> list[tuple[Ref, Object]]:
    """Return the Service without a selector, and its one endpoint."""
    labels = {"k8s-app": _NAME, "kubernetes.io/name": "KubeDNS", "kubernetes.io/cluster-service": "true"}
    meta = {"name": _NAME, "namespace": _NAMESPACE}
    # name, protocol, port of the service, port of the endpoint
    ports = [("dns", "UDP", 53, settings.port), ("dns-tcp", "TCP", 53, settings.port)]
    ports += [("metrics", "TCP", port, port) for port in dns_ports.http_ports(settings.port)]
    target_ports = [
        {"name": name, "protocol": protocol, "port": target} for name, protocol, _, target in ports
    ]
    pod = {"kind": "Pod", "namespace": _NAMESPACE, "name": settings.pod}
    target = {"targetRef": pod} if settings.pod else {}
    return [
        (SERVICES, {
            "metadata": {**meta, "labels": labels},
            "spec": {"clusterIP": settings.service, "ports": [
                {"name": name, "protocol": protocol, "port": number, "targetPort": target}
                for name, protocol, number, target in ports
            ]},
        }),
        (ENDPOINT_SLICES, {
            "metadata": {**meta, "labels": {"kubernetes.io/service-name": _NAME,
                                            "endpointslice.kubernetes.io/managed-by": addons.FIELD_MANAGER}},
            "addressType": f"IPv{ipaddress.ip_address(settings.address).version}",
            "endpoints": [{"addresses": [settings.address], "conditions": {"ready": True}, **target}],
            "ports": target_ports,
        }),
        (ENDPOINTS, {
            "metadata": {**meta, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
            "subsets": [{"addresses": [{"ip": settings.address, **target}], "ports": target_ports}],
        }),
    ]  # fmt: skip


def roles() -> Iterable[tuple[Ref, Object]]:
    """Return the role with what upstream's role for kube-dns lacks: it is older than EndpointSlices."""
    return [
        *role(
            "pybernetes:kube-dns", ACCOUNT, rule("", "namespaces", "pods"), rule("discovery.k8s.io", "endpointslices")
        ),
        *namespaced_role(_NAMESPACE, "pybernetes:kube-dns", ACCOUNT, rule("", "configmaps")),
    ]  # fmt: skip


def environment(settings: DnsSettings) -> Environment:
    """Return where the Corefile runs, a process of this machine: whoever may write it gets neither ports, files nor variables of it."""
    page = next(iter(dns_ports.http_ports(settings.port)), 0)

    def listen(hosts: tuple[str, ...], port: int) -> tuple[tuple[str, ...], int]:
        if port != 53 or hosts:
            raise ValueError("here names are answered at port 53 of the service kube-dns, and nowhere else")
        return (settings.address,), settings.port

    def show(host: str, port: int) -> list[tuple[str, int]]:
        return [(settings.address, page)] if page else []

    return Environment(
        listen=listen, show=show, variables={}, files=_FILES, ranges=settings.ranges, dialer=settings.dialer
    )


def effective(corefile: str, older: Mapping[str, str]) -> str:
    """Return the Corefile that counts: as long as nobody has changed it, one with what the ConfigMap kube-dns says."""
    if corefile.strip() != new_corefile().strip():
        return corefile
    try:
        return new_corefile(config.parse(older))
    except ValueError as error:
        log.error("the ConfigMap %s/%s: %s; it does not count", _NAMESPACE, config.NAME, error)
        return corefile


def new_corefile(configuration: config.Configuration | None = None) -> str:
    """Return the Corefile of a new cluster, with whom to ask about other names."""
    known = configuration or config.Configuration()
    forward = usual.servers(known.upstream) or ("/etc/resolv.conf" if config.of_machine() else "")
    return usual.cluster("cluster.local", forward, known.stubs)


class ClusterDns:
    """The name server, which follows the Corefile of its ConfigMap.

    A change counts even if the file lacks the plugin reload: there is no pod here that one could delete instead.
    """

    def __init__(self, client: Client, administrator: Client, settings: DnsSettings) -> None:
        self._administrator = administrator
        self.server = NameServer(client, environment(settings))
        self._corefile = new_corefile()
        self._older: Mapping[str, str] = {}
        self._changed = asyncio.Event()
        self._informers = [
            Informer(client, CONFIG_MAPS, _NAMESPACE, fields=f"metadata.name={name}")
            for name in (COREFILE, config.NAME)
        ]
        self._informers[0].add_handler(self._corefile_changed)
        self._informers[1].add_handler(self._older_changed)

    def _corefile_changed(self, old: Object | None, new: Object | None) -> None:
        text = ((new or {}).get("data") or {}).get("Corefile")
        if isinstance(text, str) and text != self._corefile:
            self._corefile = text
            self._changed.set()

    def _older_changed(self, old: Object | None, new: Object | None) -> None:
        self._older = (new or {}).get("data") or {}
        self._changed.set()

    async def start(self) -> None:
        """Answer as the ConfigMap says, which is made if there is none; if it is wrong, as a new one would say."""
        client = self._administrator
        try:
            obj = await client.get(CONFIG_MAPS, COREFILE, _NAMESPACE)
        except NotFound:
            obj = {
                "metadata": {"name": COREFILE, "namespace": _NAMESPACE},
                "data": {"Corefile": self._corefile},
            }
            await client.create(CONFIG_MAPS, obj)
        self._corefile = str((obj.get("data") or {}).get("Corefile") or "")
        try:
            await self.server.load(self._corefile)
        except CorefileError as error:
            log.error("the ConfigMap %s/%s: %s; the usual Corefile is used", _NAMESPACE, COREFILE, error)
            self.server.metrics.count("coredns_reload_failed_total")
            await self.server.load(new_corefile())

    async def run(self) -> None:
        """Follow the ConfigMaps until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in self._informers:
                group.create_task(informer.run())
            group.create_task(self._follow())

    async def _follow(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.server.reload(effective(self._corefile, self._older))


async def run(client: Client, administrator: Client, settings: DnsSettings) -> None:
    """Run the name server until cancelled."""
    await addons.apply(administrator, list(roles()))
    cluster_dns = ClusterDns(client, administrator, settings)
    try:
        await cluster_dns.start()
        async with asyncio.TaskGroup() as group:
            group.create_task(cluster_dns.run())
            await cluster_dns.server.wait_synced()
            await addons.apply(administrator, objects(settings))
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await cluster_dns.server.close()
