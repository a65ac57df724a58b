"""kube-dns of a local cluster: it runs beside the API server, and pods reach it as a service."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from pybernetes.client.client import Client
from pybernetes.client.refs import ENDPOINT_SLICES, ENDPOINTS, SERVICES, Ref
from pybernetes.node.dns.kube_dns import KubeDns, Options
from pybernetes.tools.local import addons, dns_ports
from pybernetes.tools.local.addons import Object, role, rule

ACCOUNT = "system:serviceaccount:kube-system:kube-dns"
_NAME, _NAMESPACE = "kube-dns", "kube-system"


@dataclass(frozen=True, slots=True)
class DnsSettings:
    """Where kube-dns answers, and the address that pods know it by."""

    address: str
    service: str
    ranges: tuple[str, ...] = ()
    port: int = dns_ports.PORT
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
    return role(
        "pybernetes:kube-dns", ACCOUNT, rule("", "namespaces", "configmaps"),
        rule("discovery.k8s.io", "endpointslices"),
    )  # fmt: skip


async def run(client: Client, administrator: Client, settings: DnsSettings) -> None:
    """Run kube-dns until cancelled."""
    await addons.apply(administrator, list(roles()))
    page = next(iter(dns_ports.http_ports(settings.port)), 0)
    options = Options(
        addresses=(settings.address,), port=settings.port, ranges=settings.ranges, health_port=page,
        ready_port=page, metrics_port=page,
    )  # fmt: skip
    kube_dns = KubeDns(client, options)
    try:
        await kube_dns.start()
        async with asyncio.TaskGroup() as group:
            group.create_task(kube_dns.run())
            await kube_dns.server.wait_synced()
            await addons.apply(administrator, objects(settings))
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await kube_dns.stop()
