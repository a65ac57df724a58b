"""Event: something that happened to an object, in the newer form; stored as the core group's Event."""

from __future__ import annotations

from pybernetes.api.core import _events
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.text import go_format
from pybernetes.api.validation import meta

_CLEARED = ("firstTimestamp", "lastTimestamp", "count")
_IMMUTABLE = ("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count",
              "type", "eventTime", "action", "related", "reportingComponent", "reportingInstance")  # fmt: skip
# An object reference in the order of Go's struct.
_REFERENCE = {
    "Kind": "kind", "Namespace": "namespace", "Name": "name", "UID": "uid", "APIVersion": "apiVersion",
    "ResourceVersion": "resourceVersion", "FieldPath": "fieldPath",
}  # fmt: skip
_INTERNAL_NAMES = {"reportingComponent": "reportingController"}


def default(obj: Object) -> None:
    """Fill what Go writes even when it is empty."""
    obj.setdefault("regarding", {})
    obj.setdefault("deprecatedSource", {})


def validate(obj: Object, errors: Errors) -> None:
    """Check what holds for creations and updates alike."""
    _events.validate_core(_events.to_core(obj), errors, "reportingController")


def validate_create(obj: Object, errors: Errors) -> None:
    """Check what a new event must have, and what only old events have."""
    event = _events.to_core(obj)
    _events.validate_series(event, errors)
    if not event.get("eventTime"):
        errors.required(Path("eventTime"))
    if event.get("type") not in ("Normal", "Warning"):
        errors.invalid(Path("type"), "", f"has invalid value: {event.get('type', '')}")
    for key in _CLEARED:
        if event.get(key):
            errors.invalid(Path(key), "", "needs to be unset")
    source = event.get("source", {})
    if source.get("component") or source.get("host"):
        errors.invalid(Path("source"), "", "needs to be unset")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that nothing but the series changes."""
    after, before = _events.to_core(new), _events.to_core(old)
    if after.get("series") != before.get("series"):
        _events.validate_series(after, errors)
    for key in _IMMUTABLE:
        # An empty value and an absent one are the same in Go.
        if (after.get(key) or None) != (before.get(key) or None):
            shown = after.get(key)
            if key in ("involvedObject", "related") and shown is not None:
                shown = go_format.Struct({name: shown.get(field, "") for name, field in _REFERENCE.items()})
            errors.invalid(Path(_INTERNAL_NAMES.get(key, key)), shown, meta.IMMUTABLE)


RESOURCE = Resource(
    group="events.k8s.io",
    version="v1",
    kind="Event",
    plural="events",
    short_names=("ev",),
    columns=_events.columns(_events.to_core),
    selectable=_events.selectable(_events.CORE_TO_NEW),
    storage_version=("", "v1"),
    to_storage=_events.to_core,
    from_storage=_events.from_core,
    create_on_update=True,
    ttl=_events.TTL,
    propagation="",
    default=default,
    validate=validate,
    validate_create=validate_create,
    validate_update=validate_update,
)
