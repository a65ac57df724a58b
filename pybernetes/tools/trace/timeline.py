"""Puts a pod's creation together from what the pod, its events and the API server tell. Pure.

What components tell to the microsecond comes first; for what nobody told so finely, conditions and events have to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api import steps
from pybernetes.api.resource import Object
from pybernetes.api.steps import Step
from pybernetes.tools.trace import fallback, moments
from pybernetes.tools.trace.moments import Moment
from pybernetes.tools.trace.row import (
    API_SERVER,
    KUBELET,
    NUMBERS,
    SCHEDULER,
    Row,
    clipped,
    covered,
    rounded,
)

_AWAY_SECONDS = 5.0  # a step that begins so long before the pod's creation is not about the pod
_SKEW_SECONDS = 0.05


@dataclass(slots=True)
class Trace:
    """A pod's creation: its steps in order, when it was asked for and when it ran, all in seconds since the epoch."""

    namespace: str
    name: str
    uid: str = ""
    node: str = ""
    phase: str = ""
    begin: float | None = None
    end: float | None = None  # when it ran; None as long as it does not
    precise: bool = False  # whether begin and end are finer than a second
    steps: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """How long it took from the request until the pod ran."""
        return self.end - self.begin if self.begin is not None and self.end is not None else None

    @property
    def accounted(self) -> float | None:
        """Which part of that time the steps account for."""
        if not self.seconds or self.begin is None or self.end is None:
            return None
        return min(1.0, covered(self.steps, self.begin, self.end) / self.seconds)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        rows = [row.as_json() for row in self.steps]
        return {
            "pod": {"namespace": self.namespace, "name": self.name, "uid": self.uid, "node": self.node},
            "phase": self.phase, "begin": self.begin, "end": self.end, "seconds": rounded(self.seconds),
            "accounted": rounded(self.accounted), "precise": self.precise, "steps": rows, "notes": self.notes,
        }  # fmt: skip


def trace(
    pod: Object, events: Iterable[Object] = (), writes: Sequence[Mapping[str, Any]] = (), notes: Iterable[str] = ()
) -> Trace:  # fmt: skip
    """Return a pod's creation; ``writes`` is what the API server tells of the pod's writes, if it does."""
    meta, status = pod["metadata"], pod.get("status") or {}
    result = Trace(
        meta.get("namespace", ""), meta["name"], meta.get("uid", ""), (pod.get("spec") or {}).get("nodeName", ""),
        status.get("phase", ""), notes=list(notes),
    )  # fmt: skip
    created = moments.timestamp(meta.get("creationTimestamp"), "creation timestamp")
    events = [event for event in events if _is_about(event, result.uid)]
    ran = next((write for write in writes if write["phase"] == "Running"), None)
    told = _told(
        events,
        created.at - _AWAY_SECONDS if created else 0.0,
        ran["written"] + _AWAY_SECONDS if ran is not None else float("inf"),
    )
    rows = _api_server(writes)
    if created is not None and not rows:
        result.notes.append(
            "The API server does not tell when it was asked for the pod, or not any more: creation is known to the second."
        )
    scheduler = [step for component, step in told if component == SCHEDULER]
    if scheduler:
        rows += _after(rows, scheduler, SCHEDULER, result.notes)
    else:
        rows += fallback.scheduling(pod, events, rows, created)
    bound = next((write["written"] for write in writes if write["subresource"] == "binding"), None)
    if bound is not None and rows and rows[-1].name == "bind":
        rows[-1].end = max(rows[-1].begin, min(rows[-1].end or bound, bound))
    kubelet = [step for component, step in told if component == KUBELET]
    if kubelet:
        rows += _after(rows, kubelet, KUBELET, result.notes)
    else:
        rows += fallback.starting(pod, events, rows)
    runs = status.get("phase") not in (None, "", "Pending")
    if ran is not None:
        begin = rows[-1].end if rows and rows[-1].end is not None else ran["received"]
        rows.append(Row("status", KUBELET, begin, ran["received"]))
        rows.append(Row("status write", API_SERVER, ran["received"], ran["written"]))
    elif runs:
        rows += fallback.reporting(pod, rows)
    result.begin = rows[0].begin if rows else created.at if created else None
    rows = clipped(rows)
    if runs:
        result.end = max((row.end for row in rows if row.end is not None), default=None)
    else:
        rows += _under_way(pod, rows, created)
    result.steps = rows
    result.precise = bool(rows) and rows[0].precise and rows[-1].precise
    return result


def _is_about(event: Object, uid: str) -> bool:
    return (event.get("involvedObject") or {}).get("uid") == uid


def _told(events: Iterable[Object], earliest: float, latest: float) -> list[tuple[str, Step]]:
    """Return the steps that components tell with their events, in order of time.

    Others can write events, too. When one came the API server says: nothing can be told that was not over by then.
    """
    told = []
    for event in events:
        meta, component = event["metadata"], SCHEDULER if event.get("reason") == "Scheduled" else KUBELET
        came = moments.timestamp(meta.get("creationTimestamp"), "")
        by_then = min(latest, came.at + _AWAY_SECONDS) if came is not None else latest
        for step in steps.from_text((meta.get("annotations") or {}).get(steps.ANNOTATION)):
            if step.name in NUMBERS and earliest <= step.begin and step.end <= by_then:
                told.append((component, step))
    return sorted(told, key=lambda entry: (entry[1].begin, entry[1].end))


def _api_server(writes: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Return the steps of the request that made the pod."""
    if not writes or writes[0]["subresource"]:
        return []
    first = writes[0]
    return [
        Row("request", API_SERVER, first["received"], first["admission"]),
        Row("admission", API_SERVER, first["admission"], first["write"]),
        Row("write", API_SERVER, first["write"], first["written"]),
    ]


def _after(rows: list[Row], told: list[Step], component: str, notes: list[str]) -> list[Row]:
    """Return the steps of a component, and the time until it noticed that there is something to do."""
    result = [Row(step.name, component, step.begin, step.end, step.detail) for step in told]
    if rows and rows[-1].end is not None:
        before, first = rows[-1], result[0].begin
        away = before.begin - first  # what follows from something cannot have begun before it
        if before.precise and away > _SKEW_SECONDS:
            notes.append(
                f"The clocks of {before.component} and {component} differ by {away * 1000:.0f} ms or more."
            )
        noticed = "watch" if component == SCHEDULER else "node watch"
        result.insert(0, Row(noticed, component, rows[-1].end, max(rows[-1].end, first)))
    return result


def _under_way(pod: Object, rows: list[Row], created: Moment | None) -> list[Row]:
    """Return the step that a pod which does not run yet waits for."""
    last = rows[-1] if rows else None
    begin = last.end if last is not None else created.at if created is not None else None
    if begin is None:
        return []
    precise = last is not None and last.exact_end
    status, source = pod.get("status") or {}, "status"
    if not (pod.get("spec") or {}).get("nodeName"):
        why: Object = next(
            (item for item in status.get("conditions") or () if item.get("type") == "PodScheduled"), {}
        )
        return [Row("queue", SCHEDULER, begin, None, str(why.get("message") or ""), source, precise)]
    following = {"bind": "node watch", "schedule": "node watch", "start": "status"}
    name = following.get(last.name if last else "", "")
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        waits = (container.get("state") or {}).get("waiting") or {}
        if waits.get("message") or waits.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
            text = ": ".join(str(waits[key]) for key in ("reason", "message") if waits.get(key))
            return [Row(name or "wait", KUBELET, begin, None, text[:400], source, precise)]
    return [Row(name or "wait", KUBELET, begin, None, "", source, precise)]
