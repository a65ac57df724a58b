"""Service: one stable address, and often a name, for many pods."""

from __future__ import annotations

from pybernetes.api.core.service import linked_fields as links
from pybernetes.api.core.service import validation as checks
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, format_labels
from pybernetes.api.validation import addresses, names

_SPEC = Path("spec")
_AFFINITY_SECONDS = 10800


def default(obj: Object) -> None:
    """Fill what follows from the type and from other fields."""
    spec = obj.setdefault("spec", {})
    if not spec.get("type"):
        spec["type"] = "ClusterIP"
    _default_affinity(spec)
    for port in spec.get("ports", ()):
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if port.get("targetPort", 0) in (0, ""):
            port["targetPort"] = port.get("port", 0)
    type_ = spec["type"]
    if checks.is_externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if type_ in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    elif type_ == "ExternalName":
        spec.pop("internalTrafficPolicy", None)
    status = obj.setdefault("status", {})
    balancer = status.setdefault("loadBalancer", {})
    if type_ == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for entry in balancer.get("ingress", ()):
            if entry.get("ip"):
                entry.setdefault("ipMode", "VIP")


def _default_affinity(spec: Object) -> None:
    if not spec.get("sessionAffinity"):
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig", {})
        if "timeoutSeconds" not in config.get("clientIP", {}):
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY_SECONDS}}


def validate_create(obj: Object, errors: Errors) -> None:
    """Check a new service."""
    checks.validate(obj, None, errors)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about what has no effect, is deprecated or is spelled in an unusual way."""
    spec = obj.get("spec", {})
    messages = []
    if checks.HINTS in (obj["metadata"].get("annotations") or {}):
        messages.append(f"annotation {checks.HINTS} is deprecated, please use {checks.MODE} instead")
    type_, external_ips = spec.get("type"), spec.get("externalIPs", ())
    headless = type_ == "ClusterIP" and spec.get("clusterIP") == "None"
    if not headless and spec.get("clusterIP"):
        for index, ip in enumerate(spec.get("clusterIPs", ())):
            messages += addresses.ip_warnings(ip, (_SPEC / "clusterIPs")[index])
    if headless:
        if spec.get("loadBalancerIP"):
            messages.append("spec.loadBalancerIP is ignored for headless services")
        if external_ips:
            messages.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity") != "None":
            messages.append("spec.SessionAffinity is ignored for headless services")
    for index, ip in enumerate(external_ips):
        messages += addresses.ip_warnings(ip, (_SPEC / "externalIPs")[index])
    if external_ips and not headless and type_ != "ExternalName":
        messages.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if spec.get("loadBalancerIP"):
        messages += addresses.ip_warnings(spec["loadBalancerIP"], _SPEC / "loadBalancerIP")
    for index, cidr in enumerate(spec.get("loadBalancerSourceRanges", ())):
        messages += addresses.cidr_warnings(cidr, (_SPEC / "loadBalancerSourceRanges")[index])
    if type_ == "ExternalName" and external_ips:
        messages.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if type_ != "ExternalName" and spec.get("externalName"):
        messages.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        messages.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return messages


def _external_ip(obj: Object, now: float) -> str:
    spec = obj.get("spec", {})
    type_, ips = spec.get("type"), spec.get("externalIPs", [])
    if type_ == "ExternalName":
        return spec.get("externalName", "")
    if type_ in ("ClusterIP", "NodePort"):
        return ",".join(ips) or "<none>"
    if type_ != "LoadBalancer":
        return "<unknown>"
    entries = obj.get("status", {}).get("loadBalancer", {}).get("ingress", ())
    balanced = sorted({entry.get("ip") or entry.get("hostname") or "" for entry in entries} - {""})
    return ",".join([*balanced, *ips]) or "<pending>"


def _ports(obj: Object, now: float) -> str:
    texts = []
    for port in obj.get("spec", {}).get("ports", ()):
        node_port = f":{port['nodePort']}" if port.get("nodePort", 0) > 0 else ""
        texts.append(f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}")
    return ",".join(texts) or "<none>"


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Service",
    plural="services",
    short_names=("svc",),
    categories=("all",),
    subresources=("proxy", "status"),
    storage_path="services/specs",
    name_errors=names.dns_label,
    create_on_update=True,
    columns=(
        NAME,
        Column("Type", lambda obj, now: obj.get("spec", {}).get("type", "")),
        Column("Cluster-IP", lambda obj, now: (obj.get("spec", {}).get("clusterIPs") or ["<none>"])[0]),
        Column("External-IP", _external_ip),
        Column("Port(s)", _ports),
        AGE,
        Column("Selector", lambda obj, now: format_labels(obj.get("spec", {}).get("selector")), priority=1),
    ),
    selectable={
        "spec.clusterIP": lambda obj: obj.get("spec", {}).get("clusterIP", ""),
        "spec.type": lambda obj: obj.get("spec", {}).get("type", ""),
    },
    default=default,
    prepare_create=links.prepare_create,
    prepare_update=links.prepare_update,
    validate_create=validate_create,
    validate_update=checks.validate_update,
    validate_status_update=checks.validate_status_update,
    warnings=warnings,
)
