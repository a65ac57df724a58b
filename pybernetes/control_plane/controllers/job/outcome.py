"""The status of a job after its pods were seen to, before those that have ended are counted."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers.job.decide import Decision, condition
from pybernetes.control_plane.controllers.job.track import ensured
from pybernetes.control_plane.controllers.job.view import View
from pybernetes.lib import rfc3339


class Done(NamedTuple):
    """What came of a decision."""

    created: int = 0
    deleted: int = 0
    deleted_ready: int = 0


class Outcome(NamedTuple):
    """The status, how the job is to end if it is, and what to tell."""

    status: Object
    finished: Object | None
    terminating: int
    events: list[tuple[str, str, str]]


def outcome(view: View, decision: Decision, done: Done, now: float) -> Outcome:
    """Return the status that follows from what was seen and what was done."""
    status = dict(view.status)
    events: list[tuple[str, str, str]] = []
    if "startTime" not in status and not view.suspended:
        status["startTime"] = rfc3339.seconds(now)
    active = len(view.active) + done.created - done.deleted
    finished = decision.finished
    if finished is not None:
        if done.deleted != len(view.active):
            finished = None  # first everybody must be on the way out
    elif _is_complete(view, active):
        text = "Reached expected number of succeeded pods"
        finished = condition("SuccessCriteriaMet", "True", "CompletionsReached", text, now)
    elif "deletionTimestamp" not in view.job["metadata"]:
        _note_suspension(view, status, events, now)
    status["active"] = active
    status["ready"] = view.ready - done.deleted_ready
    status["terminating"] = view.terminating + done.deleted
    return Outcome(status, finished, status["terminating"], events)


def _is_complete(view: View, active: int) -> bool:
    least = 1 if view.completions is None else view.completions
    return active == 0 and view.succeeded >= least


def _note_suspension(view: View, status: Object, events: list[tuple[str, str, str]], now: float) -> None:
    known = status.get("conditions")
    if view.suspended:
        wanted = condition("Suspended", "True", "JobSuspended", "Job suspended", now)
    else:
        wanted = condition("Suspended", "False", "JobResumed", "Job resumed", now)
    after = ensured(known, wanted)
    if after == (known or []):
        return
    status["conditions"] = after
    if view.suspended:
        events.append(("Normal", "Suspended", "Job suspended"))
        status.pop("startTime", None)
    else:
        events.append(("Normal", "Resumed", "Job resumed"))
        status["startTime"] = rfc3339.seconds(now)


def tidy(status: Object) -> Object:
    """Return the status as it is written, without most counts that are 0 and lists that are empty."""
    kept = ("ready", "terminating", "failedIndexes", "uncountedTerminatedPods")
    return {name: value for name, value in status.items() if value or name in kept}


def is_finished(job: Object) -> str:
    """Return Complete or Failed, or an empty string while the job goes on."""
    for type_ in ("Complete", "Failed"):
        condition = conditions.find(job.get("status", {}).get("conditions"), type_)
        if condition is not None and condition["status"] == "True":
            return type_
    return ""
