"""Autoscalers between v1 and v2: what v1 has no field for travels in annotations, as JSON."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api import schema
from pybernetes.api.autoscaling import _conversion_metrics as metrics
from pybernetes.api.resource import Object
from pybernetes.api.schema.decode import DecodeError, Decoder

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS, STATUSES, CONDITIONS, BEHAVIOR = (
    _PREFIX + name for name in ("metrics", "current-metrics", "conditions", "behavior")
)
_TOLERANCES = (_PREFIX + "scale-up-tolerance", _PREFIX + "scale-down-tolerance")
STATUS_ANNOTATIONS = (STATUSES, CONDITIONS)
_KIND = ("autoscaling", "v2", "HorizontalPodAutoscaler")


def drop_annotations(metadata: Object) -> dict[str, str]:
    """Remove the annotations of the conversion from the metadata, and return them."""
    annotations = metadata.get("annotations", {})
    conversion_annotations = {
        key: annotations[key]
        for key in (METRICS, STATUSES, CONDITIONS, BEHAVIOR, *_TOLERANCES)
        if key in annotations
    }
    if conversion_annotations:
        kept = {key: value for key, value in annotations.items() if key not in conversion_annotations}
        if kept:
            metadata["annotations"] = kept
        else:
            del metadata["annotations"]
    return conversion_annotations


def _parse(text: str | None) -> Any:
    try:
        return orjson.loads(text) if text else None
    except orjson.JSONDecodeError:
        return None


def _dump(value: Any) -> str:
    text = orjson.dumps(value).decode()
    # As Go writes JSON, so that it may stand inside HTML.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _decode(value: Any, *path: str) -> Any:
    """Return the value as the type of a field of v2, keys in any case; None if it does not fit."""
    type_ = schema.kind_type(*_KIND)
    for name in path:
        type_ = type_.fields[name]
    try:
        return Decoder().decode(type_, metrics.known_keys(type_, value))
    except DecodeError:
        return None


def _list(text: str | None, convert: Any, *path: str) -> list[Object]:
    items = _parse(text)
    if not isinstance(items, list):
        return []
    try:
        return _decode([convert(item) for item in items], *path) or []
    except (AttributeError, TypeError, ValueError):
        return []  # not what this annotation holds


def to_v2(obj: Object) -> Object:
    """Return a v1 autoscaler in the form of v2."""
    metadata = dict(obj["metadata"])
    annotations = drop_annotations(metadata)
    spec, status = obj.get("spec", {}), obj.get("status")
    result: Object = {**obj, "apiVersion": "autoscaling/v2", "metadata": metadata}
    wanted = _list(annotations.get(METRICS), metrics.source_to_v2, "spec", "metrics")
    percent = spec.get("targetCPUUtilizationPercentage")
    if percent is not None or not wanted:
        wanted = [*wanted, metrics.cpu(80 if percent is None else percent)]
    result["spec"] = {
        key: spec[key] for key in ("scaleTargetRef", "minReplicas", "maxReplicas") if key in spec
    }
    result["spec"]["metrics"] = wanted
    behavior = _decode(_parse(annotations.get(BEHAVIOR)) or {}, "spec", "behavior")
    if behavior:
        result["spec"]["behavior"] = behavior
    if status is not None:
        result["status"] = _status_to_v2(status, annotations)
    return result


def _status_to_v2(status: Object, annotations: dict[str, str]) -> Object:
    result = {key: value for key, value in status.items() if key != "currentCPUUtilizationPercentage"}
    current = _list(annotations.get(STATUSES), metrics.status_to_v2, "status", "currentMetrics")
    percent = status.get("currentCPUUtilizationPercentage")
    if not current and percent is not None:
        current = [
            {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": percent}}}
        ]
    if current:
        result["currentMetrics"] = current
    conditions = _list(annotations.get(CONDITIONS), dict, "status", "conditions")
    if conditions:
        result["conditions"] = conditions
    return result


def to_v1(obj: Object) -> Object:
    """Return a v2 autoscaler in the form of v1."""
    metadata = dict(obj["metadata"])
    drop_annotations(metadata)
    spec, status = obj.get("spec", {}), obj.get("status", {})
    extra: Object = {}
    others = [metric for metric in spec.get("metrics", ()) if metrics.cpu_percent(metric) is None]
    shares = [
        share for metric in spec.get("metrics", ()) if (share := metrics.cpu_percent(metric)) is not None
    ]
    if others:
        extra[METRICS] = [metrics.source_to_v1(metric) for metric in others]
    if status.get("currentMetrics"):
        extra[STATUSES] = [metrics.status_to_v1(metric) for metric in status["currentMetrics"]]
    if "behavior" in spec:
        extra[BEHAVIOR] = metrics.internal_behavior(spec["behavior"])
    if status.get("conditions"):
        extra[CONDITIONS] = status["conditions"]
    if extra:
        texts = {key: _dump(value) for key, value in extra.items()}
        metadata["annotations"] = {**metadata.get("annotations", {}), **texts}
    result: Object = {**obj, "apiVersion": "autoscaling/v1", "metadata": metadata}
    result["spec"] = {
        key: spec[key] for key in ("scaleTargetRef", "minReplicas", "maxReplicas") if key in spec
    }
    if shares:
        result["spec"]["targetCPUUtilizationPercentage"] = shares[0]
    if "status" in obj:
        result["status"] = _status_to_v1(status)
    return result


def _status_to_v1(status: Object) -> Object:
    kept = ("observedGeneration", "lastScaleTime")
    result: Object = {key: status[key] for key in kept if key in status}
    for key in ("currentReplicas", "desiredReplicas"):
        result[key] = status.get(key, 0)
    for metric in status.get("currentMetrics", ()):
        resource = metric.get("resource", {})
        share = resource.get("current", {}).get("averageUtilization")
        if metric.get("type") == "Resource" and resource.get("name") == "cpu" and share is not None:
            result["currentCPUUtilizationPercentage"] = share
    return result
