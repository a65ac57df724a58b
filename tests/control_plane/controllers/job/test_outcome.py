"""What the status of a job says."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.decide import decide
from pybernetes.control_plane.controllers.job.outcome import Done, outcome, tidy
from pybernetes.control_plane.controllers.job.track import track
from pybernetes.control_plane.controllers.job.view import View
from tests.control_plane.controllers.builders import NOW, stamp
from tests.control_plane.controllers.job.jobs import NOTHING, job, run


def after(given: Object, *pods: Object, done: Done = NOTHING) -> Any:
    view = View(given, list(pods), Record())
    return outcome(view, decide(view, NOW), done, NOW)


def test_a_start() -> None:
    given = job(3, 2)
    given["status"] = {}
    result = after(given, done=Done(created=2))
    assert result.status == {"startTime": stamp(), "active": 2, "ready": 0, "terminating": 0}


def test_completion() -> None:
    result = after(job(2, 2), run("a", "Succeeded"), run("b", "Succeeded"))
    assert result.finished["type"] == "SuccessCriteriaMet"
    assert result.finished["reason"] == "CompletionsReached"
    assert after(job(None, 2), run("a", "Succeeded"), run("b")).finished is None
    assert after(job(None, 2), run("a", "Succeeded")).finished is not None
    assert after(job(0, 2)).finished is not None


def test_suspending_and_resuming() -> None:
    result = after(job(2, 2, suspend=True), run("a", ready=True), done=Done(deleted=1, deleted_ready=1))
    assert (result.status["active"], result.status["ready"], result.status["terminating"]) == (0, 0, 1)
    assert result.status["conditions"][0]["type"] == "Suspended" and "startTime" not in result.status
    assert result.events == [("Normal", "Suspended", "Job suspended")]
    again = after(job(2, 2, status=result.status))
    assert again.status["conditions"][0]["status"] == "False"
    assert again.status["startTime"] == stamp()
    assert after(job(2, 2)).events == []


def test_nothing_new_is_nothing_to_write() -> None:
    given = job(2, 2)
    pods = [run("a", ready=True), run("b")]
    given["status"] = tidy({**after(given, *pods).status, "uncountedTerminatedPods": {}})
    view = View(given, pods, Record())
    result = outcome(view, decide(view, NOW), Done(), NOW)
    assert tidy(track(view, result.status, result.finished, NOW).status) == given["status"]
