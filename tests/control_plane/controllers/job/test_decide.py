"""Which pods a job creates and deletes, and when it ends."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.decide import Decision, condition, decide
from pybernetes.control_plane.controllers.job.view import View
from tests.control_plane.controllers.builders import NOW
from tests.control_plane.controllers.job.jobs import (
    CALM,
    DISRUPTED,
    POLICY,
    indexed,
    job,
    names,
    run,
)


def decided(given: Object, *pods: Object, record: Record = CALM) -> Decision:
    return decide(View(given, list(pods), record), NOW)


@pytest.mark.parametrize(
    ("given", "pods", "create", "delete"),
    [
        (job(3, 2), [], 2, []),
        (job(3, 2), [run("a")], 1, []),
        (job(3, 2, status={"succeeded": 2}), [], 1, []),
        (
            job(3, 2, status={"succeeded": 2}),
            [run("a", "Succeeded")],
            0,
            [],
        ),  # it is not counted yet, but it counts
        (job(None, 2), [], 2, []),
        (job(None, 2), [run("a", "Succeeded"), run("b")], 0, []),
        (job(5, 1), [run("a", ready=True), run("b", "Pending")], 0, ["b"]),
        (job(3, 2, suspend=True), [run("a"), run("b", "Pending")], 0, ["b", "a"]),
        (job(3, 2, suspend=True), [], 0, []),
        (job(3, 3), [run("a", deleted=True, finalizers=[])], 3, []),
        (job(3, 3, podReplacementPolicy="Failed"), [run("a", deleted=True)], 2, []),
        (job(1000, 900), [], 500, []),
    ],
)
def test_how_many(given: Object, pods: list[Object], create: int, delete: list[str]) -> None:
    decision = decided(given, *pods)
    assert (len(decision.create), names(decision.delete)) == (create, delete)
    assert decision.finished is None


@pytest.mark.parametrize(
    ("given", "pods", "create", "delete"),
    [
        (indexed(), [], [0, 1, 2], []),
        (indexed(4, 2), [run("a", index=0)], [1], []),
        (indexed(4, 2, status={"completedIndexes": "0,2"}), [], [1, 3], []),
        (indexed(4, 2, status={"completedIndexes": "0"}), [run("a", "Succeeded", 1)], [2, 3], []),
        (indexed(2, 2), [run("a", index=0, ready=True), run("b", index=0), run("c", index=1)], [], ["b"]),
        (indexed(2, 2), [run("a", index=5), run("b"), run("c", index=0)], [], ["b", "a"]),
        (indexed(2, 2, podReplacementPolicy="Failed"), [run("a", index=0, deleted=True)], [1], []),
        (indexed(3, 3, backoffLimitPerIndex=1, status={"failedIndexes": "1"}), [], [0, 2], []),
    ],
)
def test_which_indexes(given: Object, pods: list[Object], create: list[int], delete: list[str]) -> None:
    decision = decided(given, *pods)
    assert (decision.create, names(decision.delete)) == (create, delete)


def test_failures_are_followed_by_a_pause() -> None:
    decision = decided(job(3, 2), run("a", "Failed"))  # 5 seconds ago
    assert (decision.create, decision.again) == ([], 5.0)
    later = decided(job(3, 2, status={"failed": 1}), record=Record(3, NOW - 39))
    assert (later.create, later.again) == ([], 1.0)
    assert len(decided(job(3, 2, status={"failed": 1}), record=Record(3, NOW - 40)).create) == 2


def test_each_index_has_its_own_pause() -> None:
    given = indexed(3, 3, backoffLimitPerIndex=2)
    fresh = run("a", "Failed", 0, annotations={"batch.kubernetes.io/job-index-failure-count": "1"})
    decision = decided(given, fresh)
    assert decision.create == [1, 2]
    assert decided(given, fresh, run("b", index=1), run("c", index=2)).again == 15.0


PER_INDEX = {"backoffLimitPerIndex": 0}
RULES = {"rules": [{"succeededIndexes": "0-1"}, {"succeededCount": 3}]}
BOTH = {"rules": [{"succeededIndexes": "0-3", "succeededCount": 2}]}


@pytest.mark.parametrize(
    ("given", "pods", "reason"),
    [
        (job(3, 1, backoffLimit=0), [run("a", "Failed")], "BackoffLimitExceeded"),
        (job(3, 1, backoffLimit=1), [run("a", "Failed")], ""),
        (job(3, 1, backoffLimit=1, status={"failed": 1}), [run("a", "Failed")], "BackoffLimitExceeded"),
        (job(3, 1, backoffLimit=0, podReplacementPolicy="Failed"), [run("a", deleted=True)], ""),
        (job(3, 1, backoffLimit=0), [run("a", deleted=True)], "BackoffLimitExceeded"),
        (job(3, 1, backoffLimit=0), [run("a", "Failed", finalizers=[])], ""),  # counted before
        (job(3, 1, activeDeadlineSeconds=60), [], "DeadlineExceeded"),
        (job(3, 1, activeDeadlineSeconds=61), [], ""),
        (job(3, 1, activeDeadlineSeconds=10, suspend=True), [], ""),
        (job(3, 1, podFailurePolicy=POLICY), [run("a", "Failed", exit_code=42)], "PodFailurePolicy"),
        (job(3, 1, podFailurePolicy=POLICY, backoffLimit=0), [run("a", "Failed", **DISRUPTED)], ""),
        (job(3, 1, podFailurePolicy=POLICY, backoffLimit=0), [run("a", "Failed", exit_code=9)], "BackoffLimitExceeded"),
        (indexed(3, 3, maxFailedIndexes=1, **PER_INDEX), [run("a", "Failed", 0), run("b", "Failed", 1)],
         "MaxFailedIndexesExceeded"),
        (indexed(2, 2, **PER_INDEX), [run("a", "Failed", 0), run("b", "Succeeded", 1)], "FailedIndexes"),
        (indexed(2, 2, **PER_INDEX), [run("a", "Failed", 0), run("b", index=1)], ""),
        (indexed(9, 9, successPolicy=RULES), [run("a", "Succeeded", 0), run("b", "Succeeded", 1)], "SuccessPolicy"),
        (indexed(9, 9, successPolicy=RULES), [run("a", "Succeeded", 0), run("b", "Succeeded", 2)], ""),
        (indexed(9, 9, successPolicy=RULES), [run(f"p{n}", "Succeeded", n) for n in (2, 3, 4)], "SuccessPolicy"),
        (indexed(9, 9, successPolicy=BOTH), [run(f"p{n}", "Succeeded", n) for n in (0, 3)], "SuccessPolicy"),
        (indexed(9, 9, successPolicy=BOTH), [run(f"p{n}", "Succeeded", n) for n in (0, 8)], ""),
    ],
)  # fmt: skip
def test_when_it_ends(given: Object, pods: list[Object], reason: str) -> None:
    decision = decided(given, *pods)
    assert (decision.finished["reason"] if decision.finished else "") == reason
    if decision.finished:
        assert decision.create == []
        assert decision.finished["type"] in ("FailureTarget", "SuccessCriteriaMet")


def test_containers_that_are_restarted_count() -> None:
    given = job(3, 1, backoffLimit=2)
    given["spec"]["template"]["spec"]["restartPolicy"] = "OnFailure"
    assert decided(given, run("a", restarts=1)).finished is None
    assert decided(given, run("a", restarts=2)).finished["reason"] == "BackoffLimitExceeded"  # type: ignore[index]


def test_what_is_to_end_ends() -> None:
    target = condition("FailureTarget", "True", "DeadlineExceeded", "late", NOW)
    decision = decided(job(3, 1, status={"conditions": [target]}), run("a"))
    assert (decision.finished["type"], decision.finished["reason"]) == ("Failed", "DeadlineExceeded")  # type: ignore[index]
    assert names(decision.delete) == ["a"] and not decision.release
