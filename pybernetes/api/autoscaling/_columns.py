"""How an autoscaler is printed."""

from __future__ import annotations

from pybernetes.api.resource import Column, Object
from pybernetes.api.table import AGE, NAME, get

_SHOWN = 2
_FIELDS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _usage(source: Object, current: Object) -> str:
    """Return a metric of CPU or memory: an amount, or a share of what was requested."""
    target = source.get("target", {})
    if "averageValue" in target:
        now, wanted = current.get("averageValue", "<unknown>"), target["averageValue"]
    else:
        now, wanted = (f"{value['averageUtilization']}%" if "averageUtilization" in value else "" for value in
                       (current, target))  # fmt: skip
    return f"{source.get('name', '')}: {now or '<unknown>'}/{wanted or '<auto>'}"


def _value(kind: str, target: Object, current: Object) -> str:
    if kind == "Pods":
        return f"{current.get('averageValue', '<unknown>')}/{target.get('averageValue', '0')}"
    if "averageValue" in target:
        return f"{current.get('averageValue', '<unknown>')}/{target['averageValue']} (avg)"
    return f"{current.get('value', '<unknown>')}/{target.get('value', '0')}"


def _metric(metric: Object, status: Object) -> str:
    kind = metric.get("type", "")
    if kind not in _FIELDS:
        return "<unknown type>"
    source = metric.get(_FIELDS[kind], {})
    current = status.get(_FIELDS[kind], {}).get("current", {})
    if kind in ("Resource", "ContainerResource"):
        return _usage(source, current)
    return _value(kind, source.get("target", {}), current)


def _targets(obj: Object, now: float) -> str:
    metrics, current = get(obj, ".spec.metrics", []), get(obj, ".status.currentMetrics", [])
    if not metrics:
        return "<none>"
    texts = [
        _metric(metric, current[place] if place < len(current) else {})
        for place, metric in enumerate(metrics[:_SHOWN])
    ]
    more = len(metrics) - _SHOWN
    return ", ".join(texts) + (f" + {more} more..." if more > 0 else "")


def _reference(obj: Object, now: float) -> str:
    return f"{get(obj, '.spec.scaleTargetRef.kind', '')}/{get(obj, '.spec.scaleTargetRef.name', '')}"


COLUMNS = (
    NAME,
    Column("Reference", _reference),
    Column("Targets", _targets),
    Column("MinPods", lambda obj, now: str(get(obj, ".spec.minReplicas", "<unset>"))),
    Column("MaxPods", lambda obj, now: get(obj, ".spec.maxReplicas", 0)),
    Column("Replicas", lambda obj, now: get(obj, ".status.currentReplicas", 0)),
    AGE,
)
