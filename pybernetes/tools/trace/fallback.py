"""Steps of a cluster whose components tell nothing of their own: from events, conditions and statuses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pybernetes.api.core.pod.container_path import container_in
from pybernetes.api.resource import Object
from pybernetes.tools.trace import moments
from pybernetes.tools.trace.moments import Moment
from pybernetes.tools.trace.row import KUBELET, SCHEDULER, Row

# What is done when the kubelet reports something about a container.
_DONE = {"Pulled": "image", "Created": "create", "Started": "start"}


def scheduling(
    pod: Object, events: Iterable[Object], rows: Sequence[Row], created: Moment | None
) -> list[Row]:
    """Return the time from the pod's creation until it had a node."""
    bound = next(
        (moments.event_moment(event) for event in events if event.get("reason") == "Scheduled"), None
    ) or moments.condition(pod, "PodScheduled")
    begin = Moment(rows[-1].end, "mark", True) if rows and rows[-1].end is not None else created
    if bound is None or begin is None:
        return []
    return [_row("schedule", SCHEDULER, begin, bound)]


def starting(pod: Object, events: Iterable[Object], rows: Sequence[Row]) -> list[Row]:
    """Return the steps of the node, as far as its events tell; the first of each container."""
    at = _end(rows)
    if at is None:
        return []
    seen: list[tuple[Moment, str, str]] = []
    for event in events:
        moment = moments.event_moment(event)
        if moment is not None and event.get("reason") in (*_DONE, "Pulling"):
            container = container_in((event.get("involvedObject") or {}).get("fieldPath"))
            seen.append((moment, event["reason"], container))
    result: list[Row] = []
    known: set[tuple[str, str]] = set()
    for moment, reason, container in sorted(seen, key=lambda entry: entry[0].at):
        if (reason, container) in known:
            continue
        known.add((reason, container))
        if not result:
            result.append(_row("sandbox", KUBELET, at, moment))
            at = moment
        if reason in _DONE:
            result.append(_row(_DONE[reason], KUBELET, at, moment, container))
        at = moment
    ready = moments.condition(pod, "PodReadyToStartContainers")
    if not result and ready is not None:
        result.append(_row("sandbox", KUBELET, at, ready))
        at = ready
    if not result:
        ran = moments.started(pod)
        if ran is not None:
            result.append(_row("start", KUBELET, at, ran))
    return result


def reporting(pod: Object, rows: Sequence[Row]) -> list[Row]:
    """Return the time until the API server had the pod's status."""
    at, written = _end(rows), moments.started(pod)
    if at is None or written is None or written.at <= at.at:
        return []
    return [_row("status", KUBELET, at, written)]


def _end(rows: Sequence[Row]) -> Moment | None:
    if not rows or rows[-1].end is None:
        return None
    return Moment(rows[-1].end, rows[-1].source, rows[-1].exact_end)


def _row(name: str, component: str, begin: Moment, end: Moment, detail: str = "") -> Row:
    precise = begin.precise and end.precise
    return Row(name, component, begin.at, max(begin.at, end.at), detail, end.source, precise, end.precise)
