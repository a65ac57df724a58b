"""What the controller of jobs counts, under upstream's names."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job import policies
from pybernetes.control_plane.controllers.job.decide import Decision
from pybernetes.control_plane.controllers.job.track import Tracking
from pybernetes.control_plane.controllers.job.view import View
from pybernetes.lib.metrics.counts import Counters, Histograms, exponential
from pybernetes.lib.metrics.exposition import Exposition

_PREFIX = "job_controller_"
_ENDED = ("Succeeded", "Failed")


class JobMetrics:
    """Syncs, jobs and pods that ended."""

    def __init__(self) -> None:
        sync = ("completion_mode", "result", "action")
        self.seconds = Histograms(f"{_PREFIX}job_sync_duration_seconds", "The time it took to sync a job",
                                  exponential(0.004, 2, 15), sync)  # fmt: skip
        self.syncs = Counters(f"{_PREFIX}job_syncs_total", "The number of job syncs", sync)
        self.jobs = Counters(f"{_PREFIX}jobs_finished_total", "The number of finished jobs",
                             ("completion_mode", "result", "reason"))  # fmt: skip
        self.pods = Counters(f"{_PREFIX}job_pods_finished_total", "The number of finished Pods that are fully tracked",
                             ("completion_mode", "result"))  # fmt: skip
        self.handled = Counters(f"{_PREFIX}pod_failures_handled_by_failure_policy_total",
                                "The number of failed Pods handled by failure policy with respect to the action applied",
                                ("action",))  # fmt: skip
        self.tracked = Counters(f"{_PREFIX}terminated_pods_tracking_finalizer_total",
                                "The number of ended pods that got or lost the finalizer by which jobs account for them",
                                ("event",))  # fmt: skip

    def pod_changed(self, old: Object | None, new: Object | None) -> None:
        """Count a pod that now waits to be accounted for, or does no longer."""
        was, is_ = _awaits(old), _awaits(new)
        if was != is_:
            self.tracked.add("add" if is_ else "delete")

    def synced(self, job: Object, decision: Decision | None, failed: bool, seconds: float) -> None:
        """Count a sync."""
        values = _mode(job), "error" if failed else "success", _action(decision)
        self.syncs.add(*values)
        self.seconds.observe(seconds, *values)

    def announced(self, view: View, tracking: Tracking) -> None:
        """Count pods that a rule of the failure policy decided about, once each."""
        if "podFailurePolicy" not in view.spec:
            return
        for pod in tracking.release:
            if pod["metadata"]["uid"] not in view.uncounted_failed and policies.is_failed(pod, view.job):
                action = policies.verdict(view.job, pod).action
                if action:
                    self.handled.add(action)

    def ended(self, job: Object, before: Object, after: Object) -> None:
        """Count the pods that the status has counted."""
        for result in ("succeeded", "failed"):
            more = after.get(result, 0) - before.get(result, 0)
            if more > 0:
                self.pods.add(_mode(job), result, by=more)

    def finished(self, job: Object, condition: Object) -> None:
        """Count a job that is at its end."""
        result = "succeeded" if condition["type"] == "Complete" else "failed"
        self.jobs.add(_mode(job), result, condition.get("reason", ""))

    def write(self, text: Exposition) -> None:
        """Write everything as text."""
        for family in (self.seconds, self.syncs, self.jobs, self.pods, self.handled, self.tracked):
            family.write(text)


def _awaits(pod: Object | None) -> bool:
    return pod is not None and pod.get("status", {}).get("phase") in _ENDED and policies.is_tracked(pod)


def _mode(job: Object) -> str:
    return "Indexed" if policies.is_indexed(job) else "NonIndexed"


def _action(decision: Decision | None) -> str:
    if decision is None:
        return "reconciling"
    if decision.delete:
        return "pods_deleted"
    return "pods_created" if decision.create else "tracking"
