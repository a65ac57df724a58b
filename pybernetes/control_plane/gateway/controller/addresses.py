"""How an entry gets an address: a Service of type LoadBalancer without a selector, whose one endpoint is the proxy."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.kinds import NAMESPACE

ENTRY = "pybernetes.io/gateway-entry"  # an annotation: whose address it is
MANAGED = {"app.kubernetes.io/managed-by": "pybernetes-gateway"}


class NoPort(Exception):
    """No port of this machine is left."""


def service_name(entry: str) -> str:
    """Return the name of the Service of an entry."""
    return f"gateway-{hashlib.sha256(entry.encode()).hexdigest()[:16]}"


def bound_ports(service: Object | None) -> dict[int, int]:
    """Return the ports of the proxy by those of a Service, which is where they are remembered."""
    ports = service["spec"].get("ports") or () if service else ()
    return {port["port"]: port["targetPort"] for port in ports if isinstance(port.get("targetPort"), int)}


def choose_ports(
    wanted: Iterable[int], known: Mapping[int, int], taken: Iterable[int], possible: range
) -> dict[int, int]:
    """Return a port of the proxy for each port of an entry: the one that it had, or the first that nobody has."""
    used = set(taken)
    result = {
        port: known[port]
        for port in wanted
        if port in known and known[port] in possible and known[port] not in used
    }
    used |= set(result.values())
    free = (port for port in possible if port not in used)
    for port in wanted:
        if port not in result:
            bound = next(free, None)
            if bound is None:
                raise NoPort(f"none of the ports {possible.start} to {possible.stop - 1} is left")
            result[port] = bound
    return result


def service(entry: str, ports: Mapping[int, int], infrastructure: Object | None = None) -> Object:
    """Return the Service of an entry, with the labels and annotations that a Gateway wants on it."""
    wanted = infrastructure or {}
    return {
        "metadata": {
            "name": service_name(entry), "namespace": NAMESPACE,
            "labels": {**(wanted.get("labels") or {}), **MANAGED},
            "annotations": {**(wanted.get("annotations") or {}), ENTRY: entry},
        },
        "spec": {
            "type": "LoadBalancer", "ports": [
                {"name": f"port-{port}", "port": port, "targetPort": bound, "protocol": "TCP"}
                for port, bound in sorted(ports.items())
            ],
        },
    }  # fmt: skip


def endpoint_slice(entry: str, ports: Mapping[int, int], address: str) -> Object:
    """Return the endpoints of the Service of an entry: the proxy."""
    name = service_name(entry)
    family = f"IPv{ipaddress.ip_address(address).version}"
    return {
        "metadata": {
            "name": f"{name}-proxy", "namespace": NAMESPACE,
            "labels": {
                "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": "pybernetes-gateway",
            },
        },
        "addressType": family,
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [
            {"name": f"port-{port}", "port": bound, "protocol": "TCP"} for port, bound in sorted(ports.items())
        ],
    }  # fmt: skip


def addresses(service: Object | None) -> list[Object]:
    """Return the addresses that a Service has got, as a Gateway's status has them."""
    given = ((service or {}).get("status") or {}).get("loadBalancer", {}).get("ingress") or ()
    return [
        {"type": "IPAddress", "value": entry["ip"]} if entry.get("ip") else {"type": "Hostname", "value": entry["hostname"]}
        for entry in given
        if entry.get("ip") or entry.get("hostname")
    ]  # fmt: skip
