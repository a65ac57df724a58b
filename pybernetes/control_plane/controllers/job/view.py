"""A job and its pods as decisions see them: who runs, who has ended, what is already counted."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.pods import (
    finished_at,
    is_active,
    is_ready,
    is_terminating,
)
from pybernetes.control_plane.controllers.job import policies
from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.indexes import Indexes, has_valid_index, index_of


class View:
    """What was seen of a job."""

    def __init__(self, job: Object, pods: list[Object], record: Record) -> None:
        self.job, self.pods, self.spec = job, pods, job["spec"]
        self.status: Object = job.get("status", {})
        self.indexed = policies.is_indexed(job)
        self.completions: int | None = self.spec.get("completions")
        self.tracked = [pod for pod in pods if policies.is_tracked(pod)]
        self.active = [pod for pod in pods if is_active(pod)]
        self.ready = sum(is_ready(pod) for pod in self.active)
        self.terminating = sum(is_terminating(pod) for pod in pods)
        uncounted = self.status.get("uncountedTerminatedPods") or {}
        self.uncounted_succeeded = set(uncounted.get("succeeded") or ())
        self.uncounted_failed = set(uncounted.get("failed") or ())
        succeeded = self._ended(self.uncounted_succeeded, lambda pod: _phase(pod) == "Succeeded")
        failed = self._ended(self.uncounted_failed, lambda pod: policies.is_failed(pod, job))
        self.record = record.after(succeeded, failed)
        self.succeeded = self.status.get("succeeded", 0) + len(succeeded) + len(self.uncounted_succeeded)
        self.failed = (
            self.status.get("failed", 0)
            + sum(policies.verdict(job, pod).counts for pod in failed)
            + len(self.uncounted_failed)
        )
        self.succeeded_before = self.succeeded_indexes = Indexes()
        self.failed_indexes: Indexes | None = None
        self.waiting: dict[int, Object] = {}  # the failed pod of an index that is not replaced yet
        if self.indexed:
            self._look_at_indexes()

    @property
    def suspended(self) -> bool:
        """Whether the job is to have no pods for now."""
        return bool(self.spec.get("suspend"))

    def _ended(self, counted: set[str], test: Callable[[Object], bool]) -> list[Object]:
        """Return the pods that have ended and are not counted yet."""
        pods = [pod for pod in self.tracked if pod["metadata"]["uid"] not in counted and test(pod)]
        if self.indexed:
            pods = [pod for pod in pods if has_valid_index(pod, self.completions or 0)]
        return pods

    def _look_at_indexes(self) -> None:
        completions = self.completions or 0
        valid = [pod for pod in self.tracked if has_valid_index(pod, completions)]
        before = Indexes.parse(self.status.get("completedIndexes", ""), completions)
        self.succeeded_before = before
        self.succeeded_indexes = before.with_indexes(
            index_of(pod) for pod in valid if _phase(pod) == "Succeeded"
        )
        self.succeeded = len(self.succeeded_indexes)
        if policies.is_per_index(self.job):
            known = Indexes.parse(self.status.get("failedIndexes", ""), completions)
            self.failed_indexes = known.with_indexes(
                index_of(pod) for pod in valid if policies.fails_index(pod, self.job)
            )
            self._find_waiting(valid)

    def _find_waiting(self, valid: list[Object]) -> None:
        busy = {index_of(pod) for pod in self.active}
        for pod in valid:
            index = index_of(pod)
            if not policies.is_failed(pod, self.job) or index in busy:
                continue
            if index in self.succeeded_indexes or index in (self.failed_indexes or ()):
                continue
            known = self.waiting.get(index)
            if known is None or (
                policies.failures(known) <= policies.failures(pod) and finished_at(pod) >= finished_at(known)
            ):
                self.waiting[index] = pod


def _phase(pod: Object) -> str:
    return pod.get("status", {}).get("phase", "")
