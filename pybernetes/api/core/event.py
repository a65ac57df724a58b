"""Event: something that happened to an object, in the form of the core group."""

from __future__ import annotations

from pybernetes.api.core import _events
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import names


def _source(obj: Object) -> str:
    return obj.get("source", {}).get("component") or obj.get("reportingComponent", "")


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Event",
    plural="events",
    short_names=("ev",),
    columns=_events.columns(lambda obj: obj),
    selectable={**_events.selectable({}), "source": _source},
    # Any name that fits into a path: old clients name events as they like.
    name_errors=names.path_segment,
    create_on_update=True,
    ttl=_events.TTL,
    propagation="",
    default=_events.default_core,
    validate=_events.validate_core,
)
