"""Moments that any cluster tells: timestamps of objects, conditions, and events, whose names are finer than their times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339

# Names of events end with the nanoseconds of their time: of most components that is the only place that has them.
_NANOSECONDS = re.compile(r"\.([0-9a-f]{15,16})\Z")
_SLACK = 1.0


class Moment(NamedTuple):
    """A time in seconds since the epoch, where it is from, and whether it is finer than a second."""

    at: float
    source: str
    precise: bool = False


def timestamp(text: Any, source: str) -> Moment | None:
    """Return the moment of a timestamp, None if it is none."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return Moment(rfc3339.parse(text), source, "." in text)
    except (ValueError, OverflowError):
        return None


def event_moment(event: Object) -> Moment | None:
    """Return when an event happened for the first time, as finely as it tells."""
    source = f"event {event.get('reason', '')}"
    fine = timestamp(event.get("eventTime"), source)
    rough = timestamp(event.get("firstTimestamp"), source) or timestamp(
        event["metadata"].get("creationTimestamp"), source
    )
    if fine is not None and fine.precise:
        return fine
    match = _NANOSECONDS.search(event["metadata"].get("name") or "")
    if match is not None and rough is not None:
        at = int(match[1], 16) / 1e9
        if rough.at - _SLACK <= at <= rough.at + 1 + _SLACK:
            return Moment(at, source, True)
    return fine or rough


def condition(pod: Object, type_: str) -> Moment | None:
    """Return since when a condition of a pod is true."""
    for item in (pod.get("status") or {}).get("conditions") or ():
        if item.get("type") == type_ and item.get("status") == "True":
            return timestamp(item.get("lastTransitionTime"), f"condition {type_}")
    return None


def managed(pod: Object, subresource: str) -> Moment | None:
    """Return when fields of a pod's subresource were last written, as the managed fields tell."""
    written = (
        timestamp(entry.get("time"), f"managed fields of {entry.get('manager', '')}")
        for entry in pod["metadata"].get("managedFields") or ()
        if (entry.get("subresource") or "") == subresource
    )
    return latest(written)


def latest(moments: Iterable[Moment | None]) -> Moment | None:
    """Return the last of some moments."""
    return max(
        (moment for moment in moments if moment is not None), default=None, key=lambda moment: moment.at
    )


def started(pod: Object) -> Moment | None:
    """Return when the last of a pod's containers began to run."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = (status.get("state") or {} for status in statuses)
    runs = ((state.get("running") or state.get("terminated") or {}).get("startedAt") for state in states)
    return latest(timestamp(text, "container status") for text in runs)
