"""What the two kinds of Event share: conversion, checks and columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object
from pybernetes.api.table import get, since
from pybernetes.api.validation import checks, names

# The fields of events.k8s.io/v1 with their names in the core group.
NEW_TO_CORE = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
CORE_TO_NEW = {core: new for new, core in NEW_TO_CORE.items()}
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_LIMIT = 128
_NOTE_LIMIT = 1024
TTL = 3600


def to_core(event: Object) -> Object:
    """Return an event of events.k8s.io as the core group writes it."""
    return {NEW_TO_CORE.get(key, key): value for key, value in event.items()} | {"apiVersion": "v1"}


def from_core(event: Object) -> Object:
    """Return an event of the core group as events.k8s.io writes it."""
    renamed = {
        CORE_TO_NEW.get(key, key): value
        for key, value in event.items()
        if value != "" or key not in ("reportingComponent", "reportingInstance")
    }
    return renamed | {"apiVersion": "events.k8s.io/v1"}


def default_core(event: Object) -> None:
    """Fill what Go writes even when it is empty."""
    event.setdefault("involvedObject", {})
    event.setdefault("source", {})
    event.setdefault("reportingComponent", "")
    event.setdefault("reportingInstance", "")


def validate_core(event: Object, errors: Errors, controller_field: str = "reportingComponent") -> None:
    """Check an event in its core form, as both groups do."""
    namespace = event["metadata"].get("namespace", "")
    involved = event.get("involvedObject", {}).get("namespace", "")
    mismatch = involved != namespace if involved else namespace not in ("", "default")
    if event.get("eventTime"):
        mismatch = not involved and namespace not in ("default", "kube-system")
    if mismatch:
        errors.invalid(Path("involvedObject") / "namespace", involved, "does not match event.namespace")
    if not event.get("eventTime"):
        return
    controller = event.get("reportingComponent", "")
    if not controller:
        errors.required(Path(controller_field))
    checks.name(names.qualified_name, controller, Path(controller_field), errors)
    for key in ("reportingInstance", "action", "reason"):
        text = event.get(key, "")
        if not text:
            errors.required(Path(key))
        if len(text.encode()) > _LIMIT:
            errors.invalid(Path(key), "", f"can have at most {_LIMIT} characters")
    if len(event.get("message", "").encode()) > _NOTE_LIMIT:
        errors.invalid(Path("message"), "", f"can have at most {_NOTE_LIMIT} characters")


def validate_series(event: Object, errors: Errors) -> None:
    """Check the series of an event that recurs."""
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        errors.invalid("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        errors.required("series.lastObservedTime")


def selectable(renames: dict[str, str]) -> dict[str, Callable[[Object], str]]:
    """Return the field selectors, with the names and on the objects of one group."""

    def reader(path: str) -> Callable[[Object], str]:
        return lambda obj: get(obj, path) or ""

    reference = renames.get("involvedObject", "involvedObject")
    controller = renames.get("reportingComponent", "reportingComponent")
    fields = [f"{reference}.{key}" for key in _REFERENCE]
    return {path: reader(path) for path in (*fields, "reason", controller, "type")}


def _seen(event: Object, now: float) -> tuple[str, str]:
    first = since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = since(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    if "series" in event:
        last = since(event["series"].get("lastObservedTime"), now)
    return first, last


def _target(event: Object) -> str:
    involved = event.get("involvedObject", {})
    kind, name = involved.get("kind", "").lower(), involved.get("name", "")
    return f"{kind}/{name}" if name else kind


def _source(event: Object) -> str:
    source = event.get("source", {})
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


def _count(event: Object) -> int:
    if "series" in event:
        return int(event["series"].get("count", 0))
    return event.get("count") or 1


def columns(core: Callable[[Object], Object]) -> tuple[Column, ...]:
    """Return the printed columns, given how an object is turned into its core form."""

    def column(name: str, cell: Callable[[Object, float], Any], **more: Any) -> Column:
        return Column(name, lambda obj, now: cell(core(obj), now), **more)

    return (
        column("Last Seen", lambda event, now: _seen(event, now)[1]),
        column("Type", lambda event, now: event.get("type", "")),
        column("Reason", lambda event, now: event.get("reason", "")),
        column("Object", lambda event, now: _target(event)),
        column(
            "Subobject", lambda event, now: event.get("involvedObject", {}).get("fieldPath", ""), priority=1
        ),
        column("Source", lambda event, now: _source(event), priority=1),
        column("Message", lambda event, now: event.get("message", "").strip()),
        column("First Seen", lambda event, now: _seen(event, now)[0], priority=1),
        column("Count", lambda event, now: _count(event), priority=1),
        column("Name", lambda event, now: event["metadata"].get("name", ""), format="name", priority=1),
    )
