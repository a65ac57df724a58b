"""Fields that an object of the API's types always has, which are printed though nobody has set them."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

_DAEMONS = ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")
# Of each kind: the fields of its spec, and those of its status.
_KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "CronJob": ((), ()),
    "DaemonSet": (("updateStrategy",), _DAEMONS),
    "Deployment": (("strategy",), ()),
    "Job": ((), ()),
    "Pod": ((), ()),
    "ReplicaSet": ((), ("replicas",)),
    "ReplicationController": ((), ("replicas",)),
    "Service": ((), ()),
    "StatefulSet": (("updateStrategy",), ("replicas", "availableReplicas")),
}


def with_empty_fields(value: Object) -> Object:
    """Return a workload or a service with these fields; other objects as they are."""
    kind = value.get("kind", "")
    if kind not in _KINDS:
        return value
    in_spec, in_status = _KINDS[kind]
    spec = {**{key: {} for key in in_spec}, **(value.get("spec") or {})}
    status = {**dict.fromkeys(in_status, 0), **(value.get("status") or {})}
    if kind == "Pod":
        spec, status = _pod_spec(spec), _pod_status(status)
    elif kind == "CronJob":
        job = {"metadata": {}, **(spec.get("jobTemplate") or {})}
        spec["jobTemplate"] = {**job, "spec": _templated(job.get("spec") or {})}
    elif kind == "Service":
        ports = [{"targetPort": 0, **port} for port in spec.get("ports") or ()]
        spec, status = {**spec, **({"ports": ports} if ports else {})}, {"loadBalancer": {}, **status}
    else:
        spec = _templated(spec)
    return {**value, "spec": spec, "status": status}


def _templated(spec: Object) -> Object:
    template = spec.get("template") or {}
    return {**spec, "template": {**template, "spec": _pod_spec(template.get("spec") or {})}}


def _pod_spec(spec: Object) -> Object:
    keys = [key for key in ("containers", "initContainers", "ephemeralContainers") if spec.get(key)]
    return {**spec, **{key: [{"resources": {}, **container} for container in spec[key]] for key in keys}}


def _pod_status(status: Object) -> Object:
    filled: Object = dict(status)
    empty: dict[str, dict[str, Any]] = {
        "conditions": {"lastProbeTime": None, "lastTransitionTime": None},
        "containerStatuses": {"lastState": {}, "state": {}},
    }
    for key, fields in empty.items():
        if filled.get(key):
            filled[key] = [{**fields, **item} for item in filled[key]]
    return filled
