"""Job: runs pods until enough of them have succeeded. What to do is decided elsewhere; here it is done."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pybernetes.api.resource import Object
from pybernetes.client.client import STRATEGIC_PATCH
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import JOBS, PODS
from pybernetes.control_plane.controllers._objects.pods import is_ready
from pybernetes.control_plane.controllers._workload.batches import at_once, slow_start
from pybernetes.control_plane.controllers._workload.describe import describe
from pybernetes.control_plane.controllers._workload.ownership import orphans
from pybernetes.control_plane.controllers._workload.workload_controller import WorkloadController
from pybernetes.control_plane.controllers.job import template
from pybernetes.control_plane.controllers.job.backoff import Record
from pybernetes.control_plane.controllers.job.decide import Decision, decide
from pybernetes.control_plane.controllers.job.metrics import JobMetrics
from pybernetes.control_plane.controllers.job.outcome import Done, is_finished, outcome, tidy
from pybernetes.control_plane.controllers.job.policies import FINALIZER, is_tracked
from pybernetes.control_plane.controllers.job.track import Tracking, count, finish, track
from pybernetes.control_plane.controllers.job.view import View
from pybernetes.runtime import Runtime, key_of
from pybernetes.runtime.owned_objects import controller_of, owner_reference

_CONTROLLER_NAME = "kubernetes.io/job-controller"
_STRAY = "pod "  # begins the key of a pod that no job owns, which no object's key can begin with


def by_job(pod: Object) -> tuple[str, ...]:
    """Index pods that are still to be accounted for by the key of their job."""
    owner = controller_of(pod) if is_tracked(pod) else None
    if owner is None or owner["kind"] != "Job":
        return ()
    return (f"{pod['metadata']['namespace']}/{owner['name']}",)


def is_managed_elsewhere(job: Object) -> bool:
    """Return whether a job is managed by another controller."""
    return job["spec"].get("managedBy", _CONTROLLER_NAME) != _CONTROLLER_NAME


class JobController(WorkloadController):
    """Makes the pods of a job be what is decided, and accounts for each of them."""

    name = "job"
    component = "job-controller"
    kind = JOBS
    owns = (PODS,)
    indexes = {PODS: (by_job,)}
    finalizer = FINALIZER

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._records: dict[str, Record] = {}
        self.counts = JobMetrics()
        self.cache(PODS).add_handler(self.counts.pod_changed)
        runtime.metrics.more.append(self.counts.write)

    def suitors(self, obj: Object) -> Iterable[str]:
        """Return the jobs that would adopt an orphan; enqueue one that nobody adopts to drop its finalizer."""
        keys = list(super().suitors(obj))
        if is_tracked(obj) and orphans(obj):
            keys.append(_STRAY + key_of(obj))
        return keys

    async def reconcile(self, key: str) -> float | None:
        """Take the job one step further."""
        if key.startswith(_STRAY):
            pod = self.cache(PODS).get(key.removeprefix(_STRAY))
            if pod is not None and orphans(pod):
                await self._let_go([pod])
            return None
        job = self.objects.get(key)
        if job is not None and is_managed_elsewhere(job):
            return None
        if job is None or is_finished(job):
            self._records.pop(key, None)
            await self._let_go(self.cache(PODS).find(by_job, key))
            return None
        uid = job["metadata"]["uid"]
        strangers = [
            pod for pod in self.cache(PODS).find(by_job, key) if (controller_of(pod) or {}).get("uid") != uid
        ]
        await self._let_go(strangers)
        return await self._sync(key, job)

    async def _sync(self, key: str, job: Object) -> float | None:
        began = self.clock.monotonic()
        decision: Decision | None = None
        failed = True
        try:
            pods = await self.claimed(job, PODS, lambda _: True)
            view = View(job, pods, self._records.get(key, Record()))
            now = self.clock.now()
            decision = decide(view, now)
            await self._carry_out(key, job, view, decision, now)
            failed = False
        finally:
            self.counts.synced(job, decision, failed, self.clock.monotonic() - began)
        return decision.again

    async def _carry_out(self, key: str, job: Object, view: View, decision: Decision, now: float) -> None:
        done, error = await self._apply(job, view, decision)
        result = outcome(view, decision, done, now)
        for event in result.events:
            self.recorder.event(job, *event)
        tracking = track(view, result.status, result.finished, now)
        await self._account(key, job, view, tracking, result.terminating)
        if error is not None:
            raise error

    async def _apply(self, job: Object, view: View, decision: Decision) -> tuple[Done, StatusError | None]:
        if decision.delete:
            failures = await at_once(self._delete(job, pod, decision.release) for pod in decision.delete)
            ready = sum(is_ready(pod) for pod in decision.delete)
            return Done(0, len(decision.delete) - len(failures), ready), failures[0] if failures else None
        if decision.create:
            pod = template.new_pod(job, owner_reference(job, JOBS))
            pods = [
                pod if index < 0 else template.indexed(job, pod, index, view.waiting.get(index))
                for index in decision.create
            ]
            made, error = await slow_start([partial(self.create_pod, job, created) for created in pods])
            return Done(made), error
        return Done(), None

    async def _delete(self, job: Object, pod: Object, release: bool) -> None:
        if release:
            await self._let_go([pod])
        await self.delete_pod(job, pod)

    async def _let_go(self, pods: Iterable[Object]) -> None:
        """Remove the finalizer from pods that are not to be counted."""
        for refused in await at_once(self._release(pod) for pod in pods if is_tracked(pod)):
            raise refused

    async def _release(self, pod: Object) -> None:
        meta = pod["metadata"]
        patch = {"metadata": {"uid": meta["uid"], "$deleteFromPrimitiveList/finalizers": [FINALIZER]}}
        try:
            await self.client.patch(PODS, meta["name"], patch, meta["namespace"], type=STRATEGIC_PATCH)
        except NotFound:
            pass

    async def _account(self, key: str, job: Object, view: View, tracking: Tracking, terminating: int) -> None:
        """Write which pods are to be counted, remove their finalizers, and write that they are counted."""
        status = tidy(tracking.status)
        if status != tidy(view.status):
            job = await self.write_status(job, status)
            self._records[key] = view.record
            self.counts.announced(view, tracking)
        error: StatusError | None = None
        held = {pod["metadata"]["uid"] for pod in view.tracked}
        if tracking.release:
            results = await self._release_all(tracking.release)
            held -= {uid for uid, refused in results.items() if refused is None}
            error = next((refused for refused in results.values() if refused is not None), None)
        counted = count(tracking.status, held)
        ended = None
        if error is None and not tracking.partial:
            ended = finish(counted, tracking.finished, terminating, self.clock.now())
        final = tidy(ended if ended is not None else counted)
        if final != status:
            await self.write_status(job, final)
        self.counts.ended(job, view.status, final)
        if ended is not None:
            self.counts.finished(job, tracking.finished or {})
            self._tell_end(job, final, tracking.finished or {})
        if error is not None:
            raise error

    async def _release_all(self, pods: list[Object]) -> dict[str, StatusError | None]:
        results: dict[str, StatusError | None] = {}

        async def one(pod: Object) -> None:
            try:
                await self._release(pod)
                results[pod["metadata"]["uid"]] = None
            except StatusError as error:
                results[pod["metadata"]["uid"]] = error

        await at_once(one(pod) for pod in pods)
        return results

    def _tell_end(self, job: Object, status: Object, finished: Object) -> None:
        if finished["type"] == "Complete":
            completions = job["spec"].get("completions")
            if completions is not None and status.get("succeeded", 0) > completions:
                text = "Too many succeeded pods running after completion count reached"
                self.recorder.warning(job, "TooManySucceededPods", text)
            self.recorder.normal(job, "Completed", "Job completed")
        else:
            self.recorder.warning(job, finished.get("reason", ""), finished.get("message", ""))


CONTROLLER = describe(JobController, "job", "job")
