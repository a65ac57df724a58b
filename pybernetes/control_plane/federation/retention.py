"""What of an object in a member stays as it is there when the template is applied again."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object

_IN_SPEC = ("clusterIP", "clusterIPs", "healthCheckNodePort")


def retain(desired: Object, current: Object, *, replicas: bool = False) -> None:
    """Put into a desired object what others decide: versions, what controllers noted, what the cluster allotted."""
    meta, now = desired.setdefault("metadata", {}), current["metadata"]
    meta["resourceVersion"] = now["resourceVersion"]
    for name in ("finalizers", "annotations"):
        meta.pop(name, None)
        if now.get(name):
            meta[name] = now[name]
    kind = desired.get("kind")
    if kind == "Service":
        _retain_service(desired, current)
    elif kind == "ServiceAccount":
        # A controller of the member may note secrets there: clearing them would have it make new ones for ever.
        if not desired.get("secrets") and current.get("secrets"):
            desired["secrets"] = current["secrets"]
    elif kind == "Namespace":
        desired.setdefault("spec", {}).update(current.get("spec") or {})
    elif replicas and (current.get("spec") or {}).get("replicas") is not None:
        desired.setdefault("spec", {})["replicas"] = current["spec"]["replicas"]


def _retain_service(desired: Object, current: Object) -> None:
    spec, now = desired.setdefault("spec", {}), current.get("spec") or {}
    spec.update({name: now[name] for name in _IN_SPEC if now.get(name)})
    known = {_port(port): port["nodePort"] for port in now.get("ports") or () if port.get("nodePort")}
    if not known:
        return
    spec["ports"] = [
        {**port, "nodePort": known[_port(port)]}
        if _port(port) in known and not port.get("nodePort")
        else port
        for port in spec.get("ports") or ()
    ]


def _port(port: Object) -> tuple[Any, ...]:
    return port.get("name"), port.get("protocol") or "TCP", port.get("port")


def kept_spec(kind: str, spec: Object) -> Object:
    """Return the fields of a spec in a member that decisions are made of; the rest need not be remembered."""
    if kind == "Service":
        names: tuple[str, ...] = (*_IN_SPEC, "ports")
    elif kind == "Namespace":
        names = ("finalizers",)
    else:
        names = ("replicas", "selector")
    return {name: spec[name] for name in names if name in spec}
