"""What the pods of a DaemonSet tolerate: they also run on nodes in trouble."""

from __future__ import annotations

from pybernetes.api.resource import Object

_NODE = "node.kubernetes.io"


def _toleration(taint: str, effect: str) -> Object:
    return {"key": f"{_NODE}/{taint}", "operator": "Exists", "effect": effect}


_TOLERATED = (
    _toleration("not-ready", "NoExecute"),
    _toleration("unreachable", "NoExecute"),
    _toleration("disk-pressure", "NoSchedule"),
    _toleration("memory-pressure", "NoSchedule"),
    _toleration("pid-pressure", "NoSchedule"),
    _toleration("unschedulable", "NoSchedule"),
)


def tolerations(pod_spec: Object) -> list[Object]:
    """Return the tolerations of daemon pods, which also run on nodes in trouble."""
    result = list(pod_spec.get("tolerations") or ())
    wanted: tuple[Object, ...] = _TOLERATED
    if pod_spec.get("hostNetwork"):
        wanted = (*wanted, _toleration("network-unavailable", "NoSchedule"))
    for toleration in wanted:
        same = [place for place, known in enumerate(result) if _same(known, toleration)]
        if same:
            result[same[0]] = toleration
        else:
            result.append(toleration)
    return result


def _same(a: Object, b: Object) -> bool:
    return all(a.get(name, "") == b.get(name, "") for name in ("key", "operator", "value", "effect"))
