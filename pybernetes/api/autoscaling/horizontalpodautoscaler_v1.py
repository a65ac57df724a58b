"""HorizontalPodAutoscaler v1: the same objects, with a field for CPU only."""

from __future__ import annotations

from pybernetes.api.autoscaling import _conversion
from pybernetes.api.autoscaling import horizontalpodautoscaler as v2
from pybernetes.api.field import Errors
from pybernetes.api.resource import Column, Object, Resource


def default(obj: Object) -> None:
    """Ask for at least one replica, and four fifths of the requested CPU unless annotations name other metrics."""
    v2.default_bounds(obj.setdefault("spec", {}))
    obj.setdefault("status", {})
    result = _conversion.to_v1(_conversion.to_v2(obj))
    for key in ("metadata", "spec", "status"):
        obj[key] = result[key]


def prepare_create(obj: Object) -> None:
    """Start without measurements, also in annotations."""
    _put_status_annotations(obj, {})
    obj["status"] = {"currentReplicas": 0, "desiredReplicas": 0}


def prepare_update(new: Object, old: Object) -> None:
    """Keep the part of the status that is in annotations."""
    _put_status_annotations(new, old["metadata"].get("annotations", {}))


def _put_status_annotations(obj: Object, source: dict[str, str]) -> None:
    metadata = obj["metadata"]
    annotations = {
        key: value
        for key, value in metadata.get("annotations", {}).items()
        if key not in _conversion.STATUS_ANNOTATIONS
    }
    annotations |= {key: source[key] for key in _conversion.STATUS_ANNOTATIONS if key in source}
    if annotations:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)


def validate(obj: Object, errors: Errors) -> None:
    """Check the autoscaler as v2 does."""
    v2.validate(_conversion.to_v2(obj), errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the status as v2 does."""
    v2.validate_status_update(_conversion.to_v2(new), _conversion.to_v2(old), errors)


def _column(column: Column) -> Column:
    cell = column.cell
    if isinstance(cell, str):
        return column
    return Column(
        column.name,
        lambda obj, now: cell(_conversion.to_v2(obj), now),
        column.type,
        column.format,
        column.description,
        column.priority,
    )


RESOURCE = Resource(
    group="autoscaling",
    version="v1",
    kind="HorizontalPodAutoscaler",
    plural="horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
    generation=True,
    storage_version=("autoscaling", "v2"),
    to_storage=_conversion.to_v2,
    from_storage=_conversion.to_v1,
    columns=tuple(_column(column) for column in v2.RESOURCE.columns),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_status_update=validate_status_update,
)
