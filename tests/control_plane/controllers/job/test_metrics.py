"""What is counted of jobs."""

from __future__ import annotations

from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.decide import Decision
from pybernetes.control_plane.controllers.job.metrics import JobMetrics
from pybernetes.control_plane.controllers.job.track import track
from pybernetes.control_plane.controllers.job.view import View
from tests.control_plane.controllers.builders import NOW
from tests.control_plane.controllers.job.jobs import DISRUPTED, POLICY, indexed, job, run


def test_syncs_by_what_they_did() -> None:
    metrics = JobMetrics()
    metrics.synced(job(), None, True, 0.1)
    metrics.synced(job(), Decision(create=[-1]), False, 0.1)
    metrics.synced(indexed(), Decision(delete=[run("a")]), False, 0.1)
    metrics.synced(indexed(), Decision(), False, 0.1)
    assert metrics.syncs.values == {
        ("NonIndexed", "error", "reconciling"): 1,
        ("NonIndexed", "success", "pods_created"): 1,
        ("Indexed", "success", "pods_deleted"): 1,
        ("Indexed", "success", "tracking"): 1,
    }


def test_what_ended() -> None:
    metrics = JobMetrics()
    metrics.ended(job(), {"succeeded": 1}, {"succeeded": 3, "failed": 1})
    metrics.finished(job(), {"type": "Failed", "reason": "DeadlineExceeded"})
    assert metrics.pods.values == {("NonIndexed", "succeeded"): 2, ("NonIndexed", "failed"): 1}
    assert metrics.jobs.values == {("NonIndexed", "failed", "DeadlineExceeded"): 1}


def test_pods_that_wait_to_be_accounted_for() -> None:
    metrics = JobMetrics()
    metrics.pod_changed(None, run("a"))
    metrics.pod_changed(run("a"), run("a", "Failed"))
    metrics.pod_changed(run("a", "Failed"), run("a", "Failed", finalizers=[]))
    assert metrics.tracked.values == {("add",): 1, ("delete",): 1}


def test_failures_that_a_policy_decided_about() -> None:
    metrics = JobMetrics()
    view = View(job(5, 5, podFailurePolicy=POLICY), [run("a", "Failed", **DISRUPTED), run("b")], Record())
    metrics.announced(view, track(view, {}, None, NOW))
    assert metrics.handled.values == {("Ignore",): 1}
