"""The decisions of the Job controller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job import policies, template
from pybernetes.control_plane.controllers.job.backoff import Record, remaining
from pybernetes.control_plane.controllers.job.decide import Decision, condition, decide
from pybernetes.control_plane.controllers.job.indexes import Indexes
from pybernetes.control_plane.controllers.job.outcome import Done, outcome, tidy
from pybernetes.control_plane.controllers.job.policies import FINALIZER
from pybernetes.control_plane.controllers.job.track import count, finish, track
from pybernetes.control_plane.controllers.job.view import View
from tests.control_plane.controllers.builders import NOW, meta, pod, stamp
from tests.control_plane.controllers.builders import template as pod_template

INDEX = template.INDEX
CALM, NOTHING = Record(), Done()


def job(
    completions: int | None = 1, parallelism: int = 1, *, status: Object | None = None, **spec: Any
) -> Object:
    result = {
        "metadata": meta("job"),
        "spec": {"parallelism": parallelism, "backoffLimit": 6, "template": pod_template(), **spec},
        "status": status or {"startTime": stamp(60)},
    }
    if completions is not None:
        result["spec"]["completions"] = completions
    return result


def indexed(completions: int = 3, parallelism: int = 3, **more: Any) -> Object:
    return job(completions, parallelism, completionMode="Indexed", **more)


def run(name: str, phase: str = "Running", index: int | None = None, **more: Any) -> Object:
    more.setdefault("finalizers", [FINALIZER])
    notes = more.pop("annotations", {})
    if index is not None:
        notes = {INDEX: str(index), **notes}
    if phase == "Failed":
        more.setdefault("exit_code", 1)
    return pod(name, phase=phase, annotations=notes, **more)


def decided(given: Object, *pods: Object, record: Record = CALM) -> Decision:
    return decide(View(given, list(pods), record), NOW)


def names(pods: list[Object]) -> list[str]:
    return [pod["metadata"]["name"] for pod in pods]


# -- sets of indexes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limit", "expected", "total"),
    [
        ("", 5, "", 0),
        ("0", 5, "0", 1),
        ("0,1", 5, "0,1", 2),
        ("0-2", 5, "0-2", 3),
        ("0,1,2,5-7", 10, "0-2,5-7", 6),
        ("0-9", 5, "0-4", 5),
        ("7", 5, "", 0),
        ("x,1-y,3", 5, "3", 1),
    ],
)
def test_indexes_are_text(text: str, limit: int, expected: str, total: int) -> None:
    indexes = Indexes.parse(text, limit)
    assert (str(indexes), len(indexes)) == (expected, total)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_indexes_are_sets(left: set[int], right: set[int]) -> None:
    one, other = Indexes().with_indexes(left), Indexes().with_indexes(right)
    assert len(one) == len(left)
    assert {n for n in range(61) if n in one} == left
    assert Indexes.parse(str(one), 100) == one
    assert list(one.missing(61)) == sorted(set(range(61)) - left)
    assert one | other == Indexes().with_indexes(left | right)
    assert one.common(other) == len(left & right)


# -- how many pods ---------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("failures", "ago", "expected"), [(0, 0, 0), (1, 0, 10), (1, 11, 0), (3, 0, 40), (20, 0, 600)]
)
def test_pauses(failures: int, ago: float, expected: float) -> None:
    assert remaining(failures, NOW - ago, NOW) == expected


def test_a_success_ends_a_row_of_failures() -> None:
    before = Record(4, NOW - 100)
    assert before.after([run("a", "Succeeded", exit_code=0)], []) == Record()
    assert before.after([], [run("b", "Failed")]) == Record(5, NOW - 5)
    assert before.after([], []) == before


def test_each_index_has_its_own_pause() -> None:
    given = indexed(3, 3, backoffLimitPerIndex=2)
    fresh = run("a", "Failed", 0, annotations={"batch.kubernetes.io/job-index-failure-count": "1"})
    decision = decided(given, fresh)
    assert decision.create == [1, 2]
    assert decided(given, fresh, run("b", index=1), run("c", index=2)).again == 15.0


# -- the end ---------------------------------------------------------------------------------------------

POLICY = {
    "rules": [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailIndex", "onExitCodes": {"operator": "In", "values": [7]}},
        {"action": "Count", "onExitCodes": {"operator": "NotIn", "values": [1], "containerName": "main"}},
    ]
}
DISRUPTED = {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}
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


@pytest.mark.parametrize(
    ("failed", "action", "counts", "message"),
    [
        (run("a", "Failed", exit_code=42), "FailJob", True,
         "Container main for pod default/a failed with exit code 42 matching FailJob rule at index 0"),
        (run("a", "Failed", **DISRUPTED), "Ignore", False, ""),
        (run("a", "Failed", exit_code=7), "FailIndex", True, ""),
        (run("a", "Failed", exit_code=3), "Count", True, ""),
        (run("a", "Failed", exit_code=1), "", True, ""),
    ],
)  # fmt: skip
def test_failure_policy(failed: Object, action: str, counts: bool, message: str) -> None:
    assert policies.verdict(job(podFailurePolicy=POLICY), failed) == (action, counts, message)


# -- accounting ------------------------------------------------------------------------------------------


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


# -- what is written -------------------------------------------------------------------------------------


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


def test_pods_of_indexes() -> None:
    given = indexed(3, 3, backoffLimitPerIndex=2, podFailurePolicy=POLICY)
    given["spec"]["template"]["spec"]["initContainers"] = [
        {"name": "i", "env": [{"name": "JOB_COMPLETION_INDEX"}]}
    ]
    base = template.new_pod(given, {"name": "job"})
    assert base["metadata"]["finalizers"] == [FINALIZER]
    first = template.indexed(given, base, 2, None)
    assert first["metadata"]["annotations"] == {
        INDEX: "2",
        "batch.kubernetes.io/job-index-failure-count": "0",
    }
    assert first["metadata"]["labels"][INDEX] == "2"
    assert (first["metadata"]["generateName"], first["spec"]["hostname"]) == ("job-2-", "job-2")
    (variable,) = first["spec"]["containers"][0]["env"]
    assert variable["valueFrom"]["fieldRef"]["fieldPath"] == f"metadata.labels['{INDEX}']"
    assert first["spec"]["initContainers"][0]["env"] == [{"name": "JOB_COMPLETION_INDEX"}]
    second = template.indexed(
        given, base, 2, run("x", "Failed", 2, annotations=first["metadata"]["annotations"])
    )
    assert second["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
    third = template.indexed(given, base, 2, run("x", "Failed", 2, **DISRUPTED))
    assert third["metadata"]["annotations"]["batch.kubernetes.io/job-index-ignored-failure-count"] == "1"


@settings(max_examples=80)
@given(
    completions=st.integers(1, 6), parallelism=st.integers(1, 4), is_indexed=st.booleans(),
    luck=st.lists(st.sampled_from(["run", "succeed", "fail", "crash"]), max_size=60),
)  # fmt: skip
def test_every_pod_is_counted_once(
    completions: int, parallelism: int, is_indexed: bool, luck: list[str]
) -> None:
    """The job is worked on step by step and may be interrupted after any write."""
    given = job(
        completions, parallelism, backoffLimit=1000, **({"completionMode": "Indexed"} if is_indexed else {})
    )
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
