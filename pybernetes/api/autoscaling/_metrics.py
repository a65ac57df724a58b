"""Checks of the metrics that an autoscaler follows."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names, resources

# In the order in which upstream looks for them.
SOURCES = {
    "object": "Object",
    "external": "External",
    "pods": "Pods",
    "resource": "Resource",
    "containerResource": "ContainerResource",
}
_TYPES = tuple(sorted(SOURCES.values()))
_TARGET_TYPES = ("Utilization", "Value", "AverageValue")


def validate(metrics: list[Object], minimum: int | None, path: Path, errors: Errors) -> None:
    """Check each metric, and that one of them can wake up what was scaled to zero."""
    for index, metric in enumerate(metrics):
        _metric(metric, path[index], errors)
    if minimum == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        text = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.forbidden(path, text)


def _metric(metric: Object, path: Path, errors: Errors) -> None:
    kind = metric.get("type", "")
    if not kind:
        errors.required(path / "type", "must specify a metric source type")
    if kind not in _TYPES:
        errors.unsupported(path / "type", kind, _TYPES)
    present = [name for name in SOURCES if name in metric]
    if present:
        _CHECKS[present[0]](metric[present[0]], path / present[0], errors)
    expected = next((name for name, value in SOURCES.items() if value == kind), None)
    if expected is None:
        errors.unsupported(path / "type", kind, _TYPES)
    elif expected not in metric:
        errors.required(path / expected, "must populate information for the given metric source")
    if len(present) != 1:
        for name in present:
            if name != expected:
                errors.forbidden(path / name, "must populate the given metric source only")


def _object(source: Object, path: Path, errors: Errors) -> None:
    reference(source.get("describedObject", {}), path / "describedObject", errors, need_group=False)
    target = _identified(source, path, errors)
    if "value" not in target and "averageValue" not in target:
        errors.required(path / "target" / "averageValue", "must set either a target value or averageValue")


def _external(source: Object, path: Path, errors: Errors) -> None:
    target = _identified(source, path, errors)
    if "value" not in target and "averageValue" not in target:
        text = "must set either a target value for metric or a per-pod target"
        errors.required(path / "target" / "averageValue", text)
    if "value" in target and "averageValue" in target:
        text = "may not set both a target value for metric and a per-pod target"
        errors.forbidden(path / "target" / "value", text)


def _pods(source: Object, path: Path, errors: Errors) -> None:
    if "averageValue" not in _identified(source, path, errors):
        errors.required(path / "target" / "averageValue", "must specify a positive target averageValue")


def _container(source: Object, path: Path, errors: Errors) -> None:
    name, container = source.get("name", ""), source.get("container", "")
    if not name:
        errors.required(path / "name", "must specify a resource name")
    else:
        resources.container_resource_name(name, path / "name", errors)
    if not container:
        errors.required(path / "container", "must specify a container")
    else:
        checks.name(names.dns_label, container, path / "container", errors)
    _usage(source.get("target", {}), path / "target", errors)


def _resource(source: Object, path: Path, errors: Errors) -> None:
    if not source.get("name"):
        errors.required(path / "name", "must specify a resource name")
    _usage(source.get("target", {}), path / "target", errors)


def _usage(target: Object, path: Path, errors: Errors) -> None:
    _target(target, path, errors)
    if "averageUtilization" not in target and "averageValue" not in target:
        errors.required(
            path / "averageUtilization", "must set either a target raw value or a target utilization"
        )
    if "averageUtilization" in target and "averageValue" in target:
        errors.forbidden(
            path / "averageValue", "may not set both a target raw value and a target utilization"
        )


def _identified(source: Object, path: Path, errors: Errors) -> Object:
    """Check the name of the metric and its target, and return the target."""
    name = source.get("metric", {}).get("name", "")
    if not name:
        errors.required(path / "metric" / "name", "must specify a metric name")
    else:
        checks.name(names.path_segment, name, path / "metric" / "name", errors)
    target: Object = source.get("target", {})
    _target(target, path / "target", errors)
    return target


def _target(target: Object, path: Path, errors: Errors) -> None:
    kind = target.get("type", "")
    if not kind:
        errors.required(path / "type", "must specify a metric target type")
    if kind not in _TARGET_TYPES:
        errors.invalid(path / "type", kind, "must be either Utilization, Value, or AverageValue")
    for key in ("value", "averageValue"):
        if key in target and quantity.parse(target[key]) <= 0:
            errors.invalid(path / key, target[key], "must be positive")
    if target.get("averageUtilization", 1) < 1:
        errors.invalid(path / "averageUtilization", target["averageUtilization"], "must be greater than 0")


def reference(ref: Object, path: Path, errors: Errors, need_group: bool) -> None:
    """Check a reference to an object by kind, name and version."""
    for key in ("kind", "name"):
        value = ref.get(key, "")
        if not value:
            errors.required(path / key)
        else:
            checks.name(names.path_segment, value, path / key, errors)
    version = ref.get("apiVersion", "")
    if version.count("/") > 1:
        errors.invalid(path / "apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif need_group and not version.rpartition("/")[0]:
        errors.invalid(path / "apiVersion", version, "apiVersion must specify API group")


_CHECKS = {
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container,
}
