"""The checks of a service, by topic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.core.service.cluster_ips import (
    is_headless,
    validate_address_changes,
    validate_cluster_ips,
)
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import addresses, checks, meta, names

_SPEC = Path("spec")
_PORTS = _SPEC / "ports"
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_TRAFFIC = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"
_AFFINITY_LIMIT = 86400
HINTS, MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def is_externally_accessible(spec: Object) -> bool:
    """Return whether traffic from outside the cluster is meant to reach it."""
    type_ = spec.get("type")
    return type_ in ("LoadBalancer", "NodePort") or (type_ == "ClusterIP" and bool(spec.get("externalIPs")))


def needs_health_check(spec: Object) -> bool:
    """Return whether load balancers ask each node if it has pods of the service."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def validate(obj: Object, old: Object | None, errors: Errors) -> None:
    """Check a new or changed service; what the old one had already stays allowed."""
    spec, before = obj.get("spec", {}), (old or {}).get("spec", {})
    annotations = obj["metadata"].get("annotations") or {}
    if HINTS in annotations and MODE in annotations and annotations[HINTS] != annotations[MODE]:
        text = f"must match annotations[{HINTS}] when both are specified"
        errors.invalid((Path("metadata") / "annotations")[MODE], annotations[MODE], text)
    _type(spec, errors)
    _ports(spec, errors)
    if "selector" in spec:
        meta.check_labels(spec["selector"], _SPEC / "selector", errors)
    _affinity(spec, errors)
    validate_cluster_ips(spec, before, errors)
    for index, ip in enumerate(spec.get("externalIPs", ())):
        path, errors_before = (_SPEC / "externalIPs")[index], len(errors)
        addresses.legacy_ip(ip, path, errors, before.get("externalIPs", ()))
        if len(errors) == errors_before:
            addresses.endpoint_ip(ip, path, errors)
    _known(spec, "type", _TYPES, errors, required=True)
    _port_clashes(spec, errors)
    _source_ranges(spec, before, annotations, old, errors)
    _load_balancer(spec, errors)
    _traffic(spec, errors)


def _known(spec: Object, key: str, values: tuple[str, ...], errors: Errors, required: bool = False) -> None:
    if not spec.get(key):
        if required:
            errors.required(_SPEC / key)
    elif spec[key] not in values:
        errors.unsupported(_SPEC / key, spec[key], values)


def _type(spec: Object, errors: Errors) -> None:
    type_ = spec.get("type")
    if not spec.get("ports") and not is_headless(spec) and type_ != "ExternalName":
        errors.required(_PORTS)
    if type_ in ("LoadBalancer", "NodePort") and is_headless(spec):
        errors.invalid((_SPEC / "clusterIPs")[0], "None", f"may not be set to 'None' for {type_} services")
    if type_ != "ExternalName":
        return
    for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if key in spec and spec[key] != []:
            errors.forbidden(_SPEC / key, "may not be set for ExternalName services")
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        errors.required(_SPEC / "externalName")
    else:
        checks.name(names.dns_subdomain, name, _SPEC / "externalName", errors)


def _ports(spec: Object, errors: Errors) -> None:
    ports = spec.get("ports", ())
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path, name = _PORTS[index], port.get("name", "")
        if name:
            _report(names.dns_label, name, path / "name", errors)
            if name in seen:
                errors.duplicate(path / "name", name)
            seen.add(name)
        elif len(ports) > 1:
            errors.required(path / "name")
        _report(names.port_number, port.get("port", 0), path / "port", errors)
        protocol = port.get("protocol", "")
        if not protocol:
            errors.required(path / "protocol")
        elif protocol not in _PROTOCOLS:
            errors.unsupported(path / "protocol", protocol, _PROTOCOLS)
        target = port.get("targetPort", 0)
        check: Callable[[Any], list[str]] = names.port_name if isinstance(target, str) else names.port_number
        _report(check, target, path / "targetPort", errors)
        if "appProtocol" in port:
            _report(names.qualified_name, port["appProtocol"], path / "appProtocol", errors)


def _report(check: Callable[[Any], list[str]], value: Any, path: Path, errors: Errors) -> None:
    for problem in check(value):
        errors.invalid(path, value, problem)


def _port_clashes(spec: Object, errors: Errors) -> None:
    node_ports, ports = set(), set()
    for index, port in enumerate(spec.get("ports", ())):
        path, number = _PORTS[index] / "nodePort", port.get("nodePort", 0)
        if number and spec.get("type") == "ClusterIP":
            errors.forbidden(path, "may not be used when `type` is 'ClusterIP'")
        key = (port.get("protocol"), number)
        if number and key in node_ports:
            errors.duplicate(path, number)
        node_ports.add(key)
    for index, port in enumerate(spec.get("ports", ())):
        key = (port.get("protocol"), port.get("port", 0))
        if key in ports:
            # As Go prints the struct that upstream compares.
            shown = go_format.Struct(
                Name="", Protocol=key[0], AppProtocol=None, Port=key[1], TargetPort=0, NodePort=0
            )
            errors.duplicate(_PORTS[index], shown)
        ports.add(key)


def _affinity(spec: Object, errors: Errors) -> None:
    affinity, path = spec.get("sessionAffinity", ""), _SPEC / "sessionAffinityConfig"
    _known(spec, "sessionAffinity", ("ClientIP", "None"), errors, required=True)
    if affinity == "None" and "sessionAffinityConfig" in spec:
        errors.forbidden(path, "must not be set when session affinity is None")
    if affinity != "ClientIP":
        return
    held: Any = spec
    for key in ("sessionAffinityConfig", "clientIP", "timeoutSeconds"):
        if key not in held:
            where = path if held is spec else path / key if key == "clientIP" else path / "clientIP" / key
            errors.required(where, "when session affinity type is ClientIP")
            return
        held = held[key]
    if not 0 < held <= _AFFINITY_LIMIT:
        text = f"must be greater than 0 and less than {_AFFINITY_LIMIT}"
        errors.invalid(path / "clientIP" / "timeoutSeconds", held, text)


def _source_ranges(
    spec: Object, before: Object, annotations: dict[str, str], old: Object | None, errors: Errors
) -> None:
    ranges = spec.get("loadBalancerSourceRanges", ())
    if ranges:
        path = _SPEC / "LoadBalancerSourceRanges"
        if spec.get("type") != "LoadBalancer":
            errors.forbidden(path, _LOAD_BALANCER_ONLY)
        known = [text.strip() for text in before.get("loadBalancerSourceRanges", ())]
        for index, text in enumerate(ranges):
            addresses.legacy_cidr(text.strip(), path[index], errors, known)
    elif SOURCE_RANGES in annotations:
        path = (Path("metadata") / "annotations")[SOURCE_RANGES]
        if spec.get("type") != "LoadBalancer":
            errors.forbidden(path, _LOAD_BALANCER_ONLY)
        text = annotations[SOURCE_RANGES]
        held = (old or {}).get("metadata", {}).get("annotations") or {}
        if text.strip() and held.get(SOURCE_RANGES) != text:
            for part in text.strip().split(","):
                addresses.legacy_cidr(part.strip(), path, errors)


def _load_balancer(spec: Object, errors: Errors) -> None:
    is_balancer = spec.get("type") == "LoadBalancer"
    if "allocateLoadBalancerNodePorts" in spec and not is_balancer:
        errors.forbidden(_SPEC / "allocateLoadBalancerNodePorts", _LOAD_BALANCER_ONLY)
    if is_balancer and "allocateLoadBalancerNodePorts" not in spec:
        errors.required("allocateLoadBalancerNodePorts")
    if "loadBalancerClass" in spec:
        if is_balancer:
            _report(names.qualified_name, spec["loadBalancerClass"], _SPEC / "loadBalancerClass", errors)
        else:
            errors.forbidden(_SPEC / "loadBalancerClass", _LOAD_BALANCER_ONLY)


def _traffic(spec: Object, errors: Errors) -> None:
    policy = spec.get("externalTrafficPolicy", "")
    if is_externally_accessible(spec):
        _known(spec, "externalTrafficPolicy", _TRAFFIC, errors, required=True)
    elif policy:
        text = "may only be set for externally-accessible services"
        errors.invalid(_SPEC / "externalTrafficPolicy", policy, text)
    port = spec.get("healthCheckNodePort", 0)
    if not port:
        pass  # the API server takes one from its range if one is needed
    elif needs_health_check(spec):
        _report(names.port_number, port, _SPEC / "healthCheckNodePort", errors)
    else:
        text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.invalid(_SPEC / "healthCheckNodePort", port, text)
    required = spec.get("type") in ("NodePort", "LoadBalancer", "ClusterIP")
    _known(spec, "internalTrafficPolicy", _TRAFFIC, errors, required=required)
    if spec.get("trafficDistribution") is not None and spec["trafficDistribution"] not in _DISTRIBUTIONS:
        errors.unsupported(_SPEC / "trafficDistribution", spec["trafficDistribution"], _DISTRIBUTIONS)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check what may not change, and then the service as a whole."""
    spec, before = new.get("spec", {}), old.get("spec", {})
    validate_address_changes(spec, before, errors)
    both = spec.get("type") == "LoadBalancer" == before.get("type")
    if both and spec.get("loadBalancerClass") != before.get("loadBalancerClass"):
        errors.invalid(_SPEC / "loadBalancerClass", spec.get("loadBalancerClass"), "may not change once set")
    if needs_health_check(spec) and needs_health_check(before):
        port = spec.get("healthCheckNodePort", 0)
        if port and port != before.get("healthCheckNodePort", 0):
            errors.forbidden(_SPEC / "healthCheckNodePort", meta.IMMUTABLE)
    validate(new, old, errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the addresses that the load balancer reports."""
    path = Path("status") / "loadBalancer" / "ingress"
    entries = new.get("status", {}).get("loadBalancer", {}).get("ingress", [])
    known = [entry.get("ip") for entry in old.get("status", {}).get("loadBalancer", {}).get("ingress", ())]
    if entries and new.get("spec", {}).get("type") != "LoadBalancer":
        errors.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, entry in enumerate(entries):
        here, ip, mode, host = (
            path[index],
            entry.get("ip", ""),
            entry.get("ipMode"),
            entry.get("hostname", ""),
        )
        if ip:
            addresses.legacy_ip(ip, here / "ip", errors, known)
        if mode is None:
            if ip:
                errors.required(here / "ipMode", "must be specified when `ip` is set")
        elif not ip:
            errors.forbidden(here / "ipMode", "may not be specified when `ip` is not set")
        elif mode not in ("Proxy", "VIP"):
            errors.unsupported(here / "ipMode", mode, ("Proxy", "VIP"))
        if host:
            _report(names.dns_subdomain, host, here / "hostname", errors)
            if addresses.parse_sloppy(host) is not None:
                errors.invalid(here / "hostname", host, "must be a DNS name, not an IP address")
