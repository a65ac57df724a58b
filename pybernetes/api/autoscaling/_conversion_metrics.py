"""Metrics between the form of v2 and the one that v1 keeps in annotations."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.schema.types import Type

_REFERENCE = ("kind", "name", "apiVersion")


def cpu(percent: int) -> Object:
    """Return the metric that v1 has a field for."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def cpu_percent(metric: Object) -> int | None:
    """Return the share of CPU that a metric asks for, or None if it is another metric."""
    resource = metric.get("resource", {})
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    share: int | None = resource.get("target", {}).get("averageUtilization")
    return share


def _present(**fields: Any) -> Object:
    return {key: value for key, value in fields.items() if value is not None}


def _metric(source: Object) -> Object:
    metric = source.get("metric", {})
    return _present(metricName=metric.get("name", ""), selector=metric.get("selector"))


def _reference(source: Object) -> Object:
    described = source.get("describedObject", {})
    return {key: described.get(key, "") for key in _REFERENCE if key in described or key != "apiVersion"}


def _to_v1(metric: Object, where: str) -> Object:
    """Convert one metric; ``where`` is target in a spec and current in a status."""
    result: Object = {"type": metric.get("type", "")}
    for key in ("object", "pods", "resource", "containerResource", "external"):
        if key in metric:
            source = metric[key]
            result[key] = _V1[key](source, source.get(where, {}), where)
    return result


def _object_to_v1(source: Object, value: Object, where: str) -> Object:
    named = _metric(source)
    return _present(
        target=_reference(source), metricName=named["metricName"], **{f"{where}Value": value.get("value", "0")},
        selector=named.get("selector"), averageValue=value.get("averageValue"),
    )  # fmt: skip


def _pods_to_v1(source: Object, value: Object, where: str) -> Object:
    named = _metric(source)
    average = {f"{where}AverageValue": value.get("averageValue", "0")}
    return _present(metricName=named["metricName"], **average, selector=named.get("selector"))


def _usage_to_v1(source: Object, value: Object, where: str) -> Object:
    # A status must have the amount, a target need not.
    amount = value.get("averageValue", None if where == "target" else "0")
    numbers = {f"{where}AverageUtilization": value.get("averageUtilization"), f"{where}AverageValue": amount}
    return _present(name=source.get("name", ""), **numbers, container=source.get("container"))


def _external_to_v1(source: Object, value: Object, where: str) -> Object:
    named = _metric(source)
    amount = value.get("value", None if where == "target" else "0")
    numbers = {f"{where}Value": amount, f"{where}AverageValue": value.get("averageValue")}
    return _present(metricName=named["metricName"], metricSelector=named.get("selector"), **numbers)


_V1 = {
    "object": _object_to_v1,
    "pods": _pods_to_v1,
    "resource": _usage_to_v1,
    "containerResource": _usage_to_v1,
    "external": _external_to_v1,
}


def source_to_v1(metric: Object) -> Object:
    """Return a metric of a spec as v1 writes it."""
    return _to_v1(metric, "target")


def status_to_v1(metric: Object) -> Object:
    """Return a metric of a status as v1 writes it."""
    return _to_v1(metric, "current")


def source_to_v2(metric: Object) -> Object:
    """Return a metric of a spec that v1 wrote."""
    return _to_v2(metric, "target")


def status_to_v2(metric: Object) -> Object:
    """Return a metric of a status that v1 wrote."""
    return _to_v2(metric, "current")


def _to_v2(metric: Object, where: str) -> Object:
    result: Object = {"type": metric.get("type", "")}
    for key in _V1:
        source = metric.get(key)
        if source is None:
            continue
        value = _present(
            value=source.get(f"{where}Value"),
            averageValue=source.get(f"{where}AverageValue", source.get("averageValue")),
            averageUtilization=source.get(f"{where}AverageUtilization"),
        )
        if where == "target":
            _type(key, value)
        result[key] = _present(
            name=source.get("name"), container=source.get("container"), describedObject=source.get("target"),
            **{where: value},
        )  # fmt: skip
        if key in ("object", "pods", "external"):
            selector = source.get("selector", source.get("metricSelector"))
            result[key]["metric"] = _present(name=source.get("metricName", ""), selector=selector)
    return result


def _type(key: str, value: Object) -> None:
    """Say what sort of target it is; v1 left that to the fields that are there."""
    if key in ("resource", "containerResource"):
        value["type"] = "Utilization" if "averageUtilization" in value else "AverageValue"
    elif key == "external":
        value["type"] = "Value" if "value" in value else "AverageValue"
    elif "averageValue" in value:
        value["type"] = "AverageValue"
        if value.get("value") == "0":
            del value["value"]  # v1 could not leave it out
    else:
        value["type"] = "Value" if key == "object" else "AverageValue"


def internal_behavior(behavior: Object) -> Object:
    """Return the behaviour with the names of upstream's internal type, which v1 has always written."""
    return {
        name: _internal_rules(behavior.get(key))
        for key, name in (("scaleUp", "ScaleUp"), ("scaleDown", "ScaleDown"))
    }


def _internal_rules(rules: Object | None) -> Object | None:
    if rules is None:
        return None
    policies = [
        {
            "Type": item.get("type", ""),
            "Value": item.get("value", 0),
            "PeriodSeconds": item.get("periodSeconds", 0),
        }
        for item in rules.get("policies", ())
    ]
    return {
        "StabilizationWindowSeconds": rules.get("stabilizationWindowSeconds"),
        "SelectPolicy": rules.get("selectPolicy"),
        "Policies": policies or None,
        "Tolerance": rules.get("tolerance"),
    }


def known_keys(type_: Type, value: Any) -> Any:
    """Return the value with its keys spelled as the type has them: Go reads JSON without regard to case."""
    if type_.kind == "struct" and isinstance(value, dict):
        spelling = {name.lower(): name for name in type_.fields}
        result = {}
        for key, item in value.items():
            name = spelling.get(key.lower())
            if name is not None:
                result[name] = known_keys(type_.fields[name], item)
        return result
    if type_.kind == "list" and isinstance(value, list) and type_.item is not None:
        return [known_keys(type_.item, item) for item in value]
    return value
