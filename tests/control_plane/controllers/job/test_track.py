"""Pods are counted once."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.decide import condition, decide
from pybernetes.control_plane.controllers.job.outcome import Done, outcome, tidy
from pybernetes.control_plane.controllers.job.track import count, finish, track
from pybernetes.control_plane.controllers.job.view import View
from tests.control_plane.controllers.builders import NOW, stamp
from tests.control_plane.controllers.job.jobs import DISRUPTED, POLICY, indexed, job, names, run


def accounted(given: Object, *pods: Object, finished: Object | None = None) -> tuple[Object, list[str]]:
    view = View(given, list(pods), Record())
    tracking = track(view, dict(given["status"]), finished, NOW)
    return tidy(tracking.status), names(tracking.release)


def test_pods_are_named_before_they_are_let_go() -> None:
    status, released = accounted(job(5, 5), run("a", "Succeeded"), run("b", "Failed"), run("c"))
    assert status["uncountedTerminatedPods"] == {"succeeded": ["uid-a"], "failed": ["uid-b"]}
    assert released == ["a", "b"]
    assert "succeeded" not in status


def test_and_counted_when_they_are() -> None:
    named = {
        "uncountedTerminatedPods": {"succeeded": ["uid-a", "uid-x"], "failed": ["uid-b"]},
        "succeeded": 2,
    }
    status = count(named, {"uid-b"})
    assert status["succeeded"] == 4
    assert status["uncountedTerminatedPods"] == {"failed": ["uid-b"]}


def test_indexes_are_counted_at_once() -> None:
    given = indexed(5, 5, status={"completedIndexes": "0", "succeeded": 1})
    status, released = accounted(
        given, run("a", "Succeeded", 1), run("b", "Succeeded", 1), run("c", "Succeeded", 0)
    )
    assert (status["completedIndexes"], status["succeeded"]) == ("0,1", 2)
    assert sorted(released) == ["a", "b", "c"]


def test_the_last_failure_of_an_index_waits_for_its_successor() -> None:
    given = indexed(2, 2, backoffLimitPerIndex=3)
    status, released = accounted(given, run("a", "Failed", 0))
    assert released == [] and not status["uncountedTerminatedPods"]
    _, released = accounted(given, run("a", "Failed", 0), run("b", index=0))
    assert released == ["a"]


def test_pods_that_are_ignored_are_not_counted() -> None:
    status, released = accounted(job(5, 5, podFailurePolicy=POLICY), run("a", "Failed", **DISRUPTED))
    assert released == ["a"] and not status["uncountedTerminatedPods"]


def test_those_who_are_cut_short_have_failed_unless_the_job_succeeds() -> None:
    failure = condition("FailureTarget", "True", "DeadlineExceeded", "late", NOW)
    status, _ = accounted(job(5, 5), run("a", deleted=True), run("b"), finished=failure)
    assert status["uncountedTerminatedPods"]["failed"] == ["uid-a", "uid-b"]
    assert [known["type"] for known in status["conditions"]] == ["FailureTarget"]
    success = condition("SuccessCriteriaMet", "True", "SuccessPolicy", "enough", NOW)
    status, released = accounted(indexed(5, 5), run("b", index=2), finished=success)
    assert not status["uncountedTerminatedPods"] and released == ["b"]


def test_the_end_waits_for_everybody() -> None:
    end = condition("Complete", "True", "CompletionsReached", "done", NOW)
    assert finish({}, end, 1, NOW) is None
    assert finish({"uncountedTerminatedPods": {"failed": ["x"]}}, end, 0, NOW) is None
    assert finish({}, None, 0, NOW) is None
    status = finish({}, end, 0, NOW)
    assert status is not None and status["completionTime"] == stamp()
    assert [known["type"] for known in status["conditions"]] == ["Complete"]


def test_not_too_many_at_once() -> None:
    pods = [run(f"p{n}", "Succeeded") for n in range(600)]
    tracking = track(View(job(1000, 600), pods, Record()), {}, None, NOW)
    assert tracking.partial and len(tracking.release) == 500


@settings(max_examples=80)
@given(
    completions=st.integers(1, 6), parallelism=st.integers(1, 4), is_indexed=st.booleans(),
    luck=st.lists(st.sampled_from(["run", "succeed", "fail", "crash"]), max_size=60),
)  # fmt: skip
def test_every_pod_is_counted_once(
    completions: int, parallelism: int, is_indexed: bool, luck: list[str]
) -> None:
    """The job is worked on step by step and may be interrupted after any write."""
    mode: Any = {"completionMode": "Indexed"} if is_indexed else {}
    given = job(completions, parallelism, backoffLimit=1000, **mode)
    given["status"] = {}
    pods: dict[str, Object] = {}
    failed = made = 0
    now = NOW
    for event in [*luck, *["succeed"] * 60]:
        now += 1000
        running = [name for name, pod in pods.items() if pod["status"]["phase"] == "Running"]
        if event in ("succeed", "fail") and running:
            one = pods[running[0]]
            one["status"]["phase"] = "Succeeded" if event == "succeed" else "Failed"
            failed += event == "fail"
        view = View(given, list(pods.values()), Record())
        decision = decide(view, now)
        for index in decision.create:
            made += 1
            pods[f"p{made}"] = run(f"p{made}", index=index if index >= 0 else None)
        result = outcome(view, decision, Done(len(decision.create)), now)
        tracking = track(view, result.status, result.finished, now)
        given["status"] = tidy(tracking.status)
        if event == "crash":
            continue  # before any finalizer was taken off
        for released in tracking.release:
            released["metadata"]["finalizers"] = []
        held = {pod["metadata"]["uid"] for pod in pods.values() if pod["metadata"]["finalizers"]}
        counted = count(tracking.status, held)
        end = finish(counted, tracking.finished, 0, now)
        given["status"] = tidy(end or counted)
        if end is not None:
            break
    assert given["status"]["succeeded"] == completions
    assert given["status"].get("failed", 0) == failed
    assert made == completions + failed
    assert given["status"].get("active", 0) == 0
