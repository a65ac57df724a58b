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
    places: dict[tuple[str, ...], int] = {}
    for place, known in enumerate(result):
        if known.get("key", "").startswith(_NODE):
            places.setdefault(_identity(known), place)
    for toleration in wanted:
        place = places.get(_identity(toleration), len(result))
        result[place : place + 1] = [toleration]
    return result


def _identity(toleration: Object) -> tuple[str, ...]:
    return tuple(toleration.get(name, "") for name in ("key", "operator", "value", "effect"))
