"""What a service asks of a network load balancer: its fields, and upstream's annotations. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import CloudError, ImplementedElsewhere
from pybernetes.lib.flags import boolean

PREFIX = "service.beta.kubernetes.io/aws-load-balancer-"
_OTHERS = ("external", "nlb-ip")  # types for which the AWS Load Balancer Controller cares
_KNOWN = (
    "type", "internal", "scheme", "cross-zone-load-balancing-enabled", "subnets", "eip-allocations",
    "additional-resource-tags", "healthcheck-protocol", "healthcheck-port", "healthcheck-path",
    "healthcheck-interval", "healthcheck-timeout", "healthcheck-healthy-threshold", "healthcheck-unhealthy-threshold",
)  # fmt: skip
_HEALTH_NUMBERS = {
    "healthcheck-interval": "HealthCheckIntervalSeconds",
    "healthcheck-timeout": "HealthCheckTimeoutSeconds",
    "healthcheck-healthy-threshold": "HealthyThresholdCount",
    "healthcheck-unhealthy-threshold": "UnhealthyThresholdCount",
}


@dataclass(frozen=True, slots=True)
class Port:
    """A listener and the target group behind it."""

    protocol: str  # TCP, UDP or TCP_UDP
    port: int
    node_port: int


@dataclass(frozen=True, slots=True)
class AwsBalancer:
    """A load balancer as it is to be."""

    name: str
    internal: bool
    ports: tuple[Port, ...]
    health: dict[str, Any]
    attributes: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    subnets: tuple[str, ...] = ()
    allocations: tuple[str, ...] = ()

    def group_name(self, port: Port) -> str:
        """Return the name of a port's target group, of at most 32 characters; another port of nodes is another group."""
        text = f"{self.name}/{port.protocol}/{port.port}/{port.node_port}"
        return f"k8s-{hashlib.sha256(text.encode()).hexdigest()[:26]}"


def name_of(service: Object) -> str:
    """Return the name of a service's load balancer, as upstream makes it."""
    return f"a{service['metadata']['uid'].replace('-', '')}"[:32]


def read(service: Object) -> AwsBalancer:
    """Return what a service asks for; CloudError if it asks for what there is not."""
    spec, meta = service["spec"], service["metadata"]
    given = {
        key.removeprefix(PREFIX): value
        for key, value in (meta.get("annotations") or {}).items()
        if key.startswith(PREFIX)
    }
    if given.get("type") in _OTHERS:
        raise ImplementedElsewhere("the AWS Load Balancer Controller cares for it")
    if given.get("type", "nlb") != "nlb":
        raise CloudError(f"{PREFIX}type: {given['type']!r} is not supported, only nlb is")
    for key in given:
        if key not in _KNOWN:
            raise CloudError(f"the annotation {PREFIX}{key} is not supported")
    if set(spec.get("loadBalancerSourceRanges") or ()) - {"0.0.0.0/0"}:
        raise CloudError(
            "spec.loadBalancerSourceRanges: security groups are not managed, so that nobody would be kept out"
        )
    if spec.get("sessionAffinity") == "ClientIP" and len(spec.get("ports") or ()) > 1:
        raise CloudError("spec.sessionAffinity: ClientIP is supported for services with one port")
    internal = given.get("scheme") == "internal" or _flag(given, "internal")
    attributes = {
        "load_balancing.cross_zone.enabled": str(_flag(given, "cross-zone-load-balancing-enabled")).lower()
    }
    tags = dict(
        pair.partition("=")[::2] for pair in given.get("additional-resource-tags", "").split(",") if pair
    )
    return AwsBalancer(
        name_of(service), internal, _ports(spec), _health(spec, given), attributes, tags,
        _list(given, "subnets"), _list(given, "eip-allocations"),
    )  # fmt: skip


def _flag(given: dict[str, str], key: str) -> bool:
    text = given.get(key, "false")
    if key == "internal" and text not in ("true", "false"):
        return True  # anything but false, as it was before there were values
    try:
        return boolean(text)
    except ValueError:
        raise CloudError(f"{PREFIX}{key}: {text!r} is neither true nor false") from None


def _list(given: dict[str, str], key: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.get(key, "").split(",") if part.strip())


def _ports(spec: Object) -> tuple[Port, ...]:
    protocols: dict[tuple[int, int], set[str]] = {}
    for entry in spec.get("ports") or ():
        protocol, node_port = entry.get("protocol") or "TCP", entry.get("nodePort") or 0
        if protocol not in ("TCP", "UDP"):
            raise CloudError(f"a network load balancer has no {protocol}")
        if not node_port:
            raise CloudError(f"port {entry['port']} has no node port, which a network load balancer needs")
        protocols.setdefault((entry["port"], node_port), set()).add(protocol)
    numbers = [port for port, _ in protocols]
    if len(set(numbers)) != len(numbers):
        raise CloudError("TCP and UDP of one port need the same node port behind a network load balancer")
    return tuple(Port("_".join(sorted(kinds)), *numbers) for numbers, kinds in protocols.items())


def _health(spec: Object, given: dict[str, str]) -> dict[str, Any]:
    local = spec.get("externalTrafficPolicy") == "Local" and spec.get("healthCheckNodePort")
    defaults = (
        ("HTTP", str(spec["healthCheckNodePort"]), "/healthz") if local else ("TCP", "traffic-port", "/")
    )
    protocol = given.get("healthcheck-protocol", defaults[0]).upper()
    if protocol not in ("TCP", "HTTP", "HTTPS"):
        raise CloudError(f"{PREFIX}healthcheck-protocol: {protocol!r} is none of TCP, HTTP, HTTPS")
    health: dict[str, Any] = {
        "HealthCheckProtocol": protocol,
        "HealthCheckPort": given.get("healthcheck-port", defaults[1]),
        "HealthCheckIntervalSeconds": 10,
        "HealthyThresholdCount": 3,
        "UnhealthyThresholdCount": 2,
    }
    if protocol != "TCP":
        health["HealthCheckPath"] = given.get("healthcheck-path", defaults[2])
    for key, name in _HEALTH_NUMBERS.items():
        if key in given:
            if not given[key].isdecimal():
                raise CloudError(f"{PREFIX}{key}: {given[key]!r} is no number")
            health[name] = int(given[key])
    return health
