"""The fields of a service that depend on one another: what a client left out is filled from what was there before,
and what a change of type makes meaningless is dropped."""

from __future__ import annotations

from pybernetes.api.core.service.cluster_ips import family_of
from pybernetes.api.core.service.validation import is_externally_accessible, needs_health_check
from pybernetes.api.resource import Object


def prepare_create(obj: Object) -> None:
    """Start the list of addresses with the single one."""
    obj["status"] = {"loadBalancer": {}}
    spec = obj.get("spec", {})
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


def prepare_update(new: Object, old: Object) -> None:
    """Keep what was allocated, drop what no longer applies, and keep both forms of the address in step."""
    spec, before = new.setdefault("spec", {}), old.get("spec", {})
    keep_allocated(spec, before)
    _sync_cluster_ips(spec, before)
    _keep_families(spec, before)
    drop_meaningless(spec, before)
    if spec.get("type") != "LoadBalancer":
        new["status"] = {**new.get("status", {}), "loadBalancer": {}}


def _has_cluster_ip(spec: Object) -> bool:
    return spec.get("type") != "ExternalName"


def _takes_node_ports(spec: Object) -> bool:
    type_ = spec.get("type")
    return type_ == "NodePort" or (
        type_ == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)
    )


def _node_ports(spec: Object) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports", ()) if port.get("nodePort")}


def keep_allocated(spec: Object, before: Object) -> None:
    """Fill addresses and ports that the client left out with those that the service has."""
    if _has_cluster_ip(spec) and _has_cluster_ip(before):
        for key in ("clusterIP", "clusterIPs"):
            if not spec.get(key) and before.get(key):
                spec[key] = before[key]
    if _takes_node_ports(spec) and _takes_node_ports(before):
        used = _node_ports(spec) & _node_ports(before)
        by_name = {port.get("name", ""): port.get("nodePort", 0) for port in before.get("ports", ())}
        for port in spec.get("ports", ()):
            known = by_name.get(port.get("name", ""), 0)
            if not port.get("nodePort") and known and known not in used:
                port["nodePort"] = known
    if needs_health_check(spec) and needs_health_check(before):
        if not spec.get("healthCheckNodePort") and before.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = before["healthCheckNodePort"]


def _sync_cluster_ips(spec: Object, before: Object) -> None:
    ip, old_ip = spec.get("clusterIP", ""), before.get("clusterIP", "")
    ips, old_ips = spec.get("clusterIPs", []), before.get("clusterIPs", [])
    if old_ips and not ips and ip == old_ip:
        spec["clusterIPs"] = old_ips
    if ip != old_ip and ips == old_ips:
        if old_ip and not ip:
            spec.pop("clusterIPs", None)
        else:
            spec["clusterIPs"] = [ip]


def _keep_families(spec: Object, before: Object) -> None:
    """Derive families and policy that are not given from the old service and from the addresses."""
    if not _has_cluster_ip(spec) or not _has_cluster_ip(before):
        return
    if "ipFamilyPolicy" not in spec and "ipFamilyPolicy" in before:
        spec["ipFamilyPolicy"] = before["ipFamilyPolicy"]
    if not spec.get("ipFamilies"):
        families = [family_of(ip) for ip in spec.get("clusterIPs", ())]
        if families and all(families):
            spec["ipFamilies"] = families
        elif before.get("ipFamilies") and spec.get("clusterIPs") == before.get("clusterIPs"):
            spec["ipFamilies"] = before["ipFamilies"]


def drop_meaningless(spec: Object, before: Object) -> None:
    """Drop what the new type does not have, unless the client changed it too (which is then refused)."""
    if _has_cluster_ip(before) and not _has_cluster_ip(spec):
        if all(spec.get(key) == before.get(key) for key in ("clusterIP", "clusterIPs")):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
        _drop_same(spec, before, "ipFamilies", "ipFamilyPolicy")
    kinds = ("NodePort", "LoadBalancer")
    if (
        before.get("type") in kinds
        and spec.get("type") not in kinds
        and _node_ports(spec) <= _node_ports(before)
    ):
        for port in spec.get("ports", ()):
            port.pop("nodePort", None)
    if needs_health_check(before) and not needs_health_check(spec):
        _drop_same(spec, before, "healthCheckNodePort")
    if before.get("type") == "LoadBalancer" != spec.get("type"):
        _drop_same(spec, before, "allocateLoadBalancerNodePorts", "loadBalancerClass")
    if is_externally_accessible(before) and not is_externally_accessible(spec):
        _drop_same(spec, before, "externalTrafficPolicy")


def _drop_same(spec: Object, before: Object, *keys: str) -> None:
    for key in keys:
        if key in spec and spec[key] == before.get(key):
            del spec[key]
