"""One pod from its beginning to its end: reads, reports, plans, acts, and does so again when something changes.

syncing ──(deleted, evicted, has run its course)──▶ terminating ──▶ terminated ──(deleted)──▶ gone
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from enum import Enum
from types import MappingProxyType
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client import Conflict, NotFound, StatusError
from pybernetes.client.refs import PODS
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.context import Context
from pybernetes.node.kubelet.cri.client import CriError
from pybernetes.node.kubelet.pod.pod_starter import PodStarter
from pybernetes.node.kubelet.pod.pod_stopper import PodStopper
from pybernetes.node.kubelet.pod.pod_sync import AT_ONCE, RETRY_FIRST, RETRY_LONGEST, PodSync
from pybernetes.node.kubelet.pod.pod_view import PodView
from pybernetes.node.kubelet.pod_kinds import is_static
from pybernetes.node.kubelet.status.status_manager import StatusManager
from pybernetes.node.kubelet.volumes.errors import VolumeError

log = logging.getLogger(__name__)


class WorkerPhase(Enum):
    """Where a pod is in its life on the node."""

    SYNCING = "syncing"
    TERMINATING = "terminating"
    TERMINATED = "terminated"
    GONE = "gone"


class PodWorker(PodView):
    """The life of one pod. ``finished`` is called when nothing is left of it."""

    def __init__(
        self, context: Context, statuses: StatusManager, pod: Object, finished: Callable[[str], None]
    ) -> None:
        super().__init__(context, statuses, pod)
        self.phase = WorkerPhase.SYNCING
        self.removed = False  # the API server does not have it any more
        self._finished = finished
        self._stopper = PodStopper(context)
        self._syncing = PodSync(
            self, PodStarter(context, self._stopper), self._stopper, self._over, self.wake
        )
        self._wakeup = asyncio.Event()
        self._grace: float | None = None
        self._failures = 0
        self._update_type = "create"  # why the next round is made, as spans tell it
        self._step: asyncio.Task[float | None] | None = None
        self._task = asyncio.create_task(self._run(), name=f"pod {self.uid}")

    # -- what others tell --------------------------------------------------------------------------------

    def wake(self) -> None:
        """Sync again, because something changed."""
        self._wakeup.set()

    def probed(self) -> None:
        """Take note of a new probe result; that of a terminating pod is reported at once, since its end may be far."""
        if self.phase is WorkerPhase.TERMINATING:
            self.report()
        else:
            self.wake()

    def update(self, pod: Object) -> None:
        """Take over a changed pod; a change of its status alone is our own doing and no reason to sync."""
        before = self.wanted
        self.set_pod(pod)
        if pod["metadata"].get("deletionTimestamp"):
            self._end(float(pod["metadata"].get("deletionGracePeriodSeconds") or 0))
        if concerns(before) != concerns(pod):
            if self._update_type != "create":
                self._update_type = "update"
            self.wake()

    def remove(self) -> None:
        """End the pod, because it is not wanted here any more."""
        self.removed = True
        meta = self.pod["metadata"]
        if meta.get("deletionTimestamp"):
            self._end(float(meta.get("deletionGracePeriodSeconds") or 0))
        else:
            self._end(None)
        self.wake()

    def fail(self, reason: str, message: str, grace: float | None = None, disruption: str = "") -> None:
        """End the pod as failed, for pressure on the node or a deadline; ``disruption`` says that the kubelet chose to."""
        if self.verdict is None:
            self.verdict = (reason, message)
            self.disruption = disruption
        self._end(grace)
        self.wake()

    def _over(self, verdict: tuple[str, str] | None, grace: float | None) -> None:
        """End the pod with a verdict, or because it has run its course."""
        if verdict is not None:
            self.fail(*verdict, grace)
        else:
            self._end(grace)
            self.wake()

    def _end(self, grace: float | None) -> None:
        shorter = grace is not None and (self._grace is None or grace < self._grace)
        if self.phase is WorkerPhase.SYNCING:
            self.phase, self._grace = WorkerPhase.TERMINATING, grace
        elif self.phase is WorkerPhase.TERMINATING and shorter:
            self._grace = grace
        else:
            return
        # This interrupts whatever is under way (a long pull, a longer grace period).
        if self._step is not None:
            self._step.cancel()

    async def close(self) -> None:
        """Stop the worker; the containers go on."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    # -- the loop ----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        metrics, waited = self.context.metrics, self.context.clock.monotonic() - self.seen_at
        metrics.observe("kubelet_pod_worker_start_duration_seconds", waited)
        metrics.observe("kubelet_containers_per_pod_count", len(self.pod["spec"]["containers"]))
        while not self.gone:
            self._wakeup.clear()
            self._step = asyncio.create_task(self._sync(), name=f"sync {self.uid}")
            delay: float | None
            try:
                delay = await self._step
                self._failures = 0
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    self._step.cancel()
                    raise
                continue
            except (CriError, VolumeError, StatusError, OSError, ConfigError) as error:
                log.warning("pod %s: %s", self.name, error)
                delay = self._retry_delay()
            except Exception:
                log.exception("pod %s", self.name)
                delay = self._retry_delay()
            finally:
                self._step = None
            if not self.gone:
                await self._wait(delay)
        del (
            self._syncing
        )  # it refers to this worker: so both are freed at once, without the garbage collector
        self._finished(self.uid)

    def _retry_delay(self) -> float:
        self._failures += 1
        return min(RETRY_LONGEST, RETRY_FIRST * 2 ** min(self._failures - 1, 10))

    async def _wait(self, seconds: float | None) -> None:
        timer = self.context.clock.call_later(seconds, self._wakeup.set) if seconds is not None else None
        try:
            await self._wakeup.wait()
        finally:
            if timer is not None:
                timer.cancel()

    @property
    def gone(self) -> bool:
        """Whether nothing is left of it."""
        return self.phase is WorkerPhase.GONE

    @property
    def cleaned(self) -> bool:
        """Whether nothing of it uses memory, processes or local disk any more."""
        return self.phase in (WorkerPhase.TERMINATED, WorkerPhase.GONE)

    @property
    def deferred(self) -> bool:
        """Whether the pod waits for resources that others have."""
        return self.allocation.pending is not None

    async def _sync(self) -> float | None:
        await self.refresh()
        while self.phase is WorkerPhase.SYNCING:
            update_type, self._update_type = self._update_type, "sync"
            begun = self.context.clock.monotonic()
            try:
                with self._span("syncPod", {"k8s.pod.update_type": update_type}):
                    delay = await self._syncing.sync()
            finally:
                took = self.context.clock.monotonic() - begun
                label = ("operation_type", update_type)
                self.context.metrics.observe("kubelet_pod_worker_duration_seconds", took, label)
            if delay != AT_ONCE:
                return delay
        if self.phase is WorkerPhase.TERMINATING:
            with self._span("syncTerminatingPod"):
                await self._terminate()
        if self.phase is WorkerPhase.TERMINATED:
            with self._span("syncTerminatedPod"):
                await self._clean_up()
        return None

    def _span(
        self, name: str, more: Mapping[str, str] = MappingProxyType({})
    ) -> AbstractContextManager[object]:
        meta = self.pod["metadata"]
        pod, namespace = meta["name"], meta["namespace"]
        names = {"k8s.pod": f"{namespace}/{pod}", "k8s.pod.name": pod, "k8s.namespace.name": namespace}
        return self.context.spans.part(name, {"k8s.pod.uid": self.uid, **names, **more})

    # -- ending ------------------------------------------------------------------------------------------

    async def _terminate(self) -> None:
        context = self.context
        self.probe(ending=True)
        self.report()
        await self._stopper.stop_pod(self.pod, self.runtime, self._grace, self.addresses())
        await self.refresh()
        if self.runtime.running:
            raise CriError("INTERNAL", f"containers still run: {[run.name for run in self.runtime.running]}")
        context.probes.stop(self.uid)
        self.report(ended=True)
        self.phase = WorkerPhase.TERMINATED
        await context.volumes.unmount(self.uid)
        await context.cgroups.run(context.cgroups.remove, self.pod)
        if context.objects is not None:
            context.objects.unregister(self.uid)

    async def _clean_up(self) -> None:
        """Remove everything of an ended pod once it is deleted; until then its logs stay."""
        deleted = bool(self.pod["metadata"].get("deletionTimestamp"))
        if not deleted and not self.removed:
            return
        context = self.context
        if deleted and not self.removed and context.client is not None and not is_static(self.pod):
            await self.statuses.flush(self.uid)
            meta = self.pod["metadata"]
            try:
                await context.client.delete(PODS, meta["name"], meta["namespace"], uid=self.uid, grace=0)
            except (NotFound, Conflict):
                pass  # gone, or another pod has its name by now
        await self._stopper.remove(self.pod, self.runtime)
        await context.volumes.unmount(self.uid)
        await context.cgroups.run(context.cgroups.remove, self.pod)
        context.images.forget(self.uid)
        context.probes.forget(self.uid)
        context.backoff.forget(self.uid)
        self.statuses.forget(self.uid)
        context.starts.end(self.uid)
        self.phase = WorkerPhase.GONE


def concerns(pod: Object) -> tuple[Any, ...]:
    """Return the parts of a pod that matter for running it: not what this kubelet says about it."""
    meta, spec = pod["metadata"], pod["spec"]
    gates = {gate["conditionType"] for gate in spec.get("readinessGates", ())}
    conditions = pod.get("status", {}).get("conditions", ()) if gates else ()
    return (
        {key: value for key, value in meta.items() if key not in ("resourceVersion", "managedFields")},
        spec,
        [condition for condition in conditions if condition["type"] in gates],
    )
