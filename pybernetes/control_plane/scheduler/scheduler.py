"""The scheduler: takes in what happens, decides about one pod after the other, and has the decisions carried out."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable
from typing import Any

from pybernetes.client.client import Client
from pybernetes.control_plane.scheduler.binder import Binder
from pybernetes.control_plane.scheduler.event_handlers import EventHandlers
from pybernetes.control_plane.scheduler.evictor import Evictor
from pybernetes.control_plane.scheduler.informers import SchedulerInformers
from pybernetes.control_plane.scheduler.metrics import SchedulerMetrics
from pybernetes.control_plane.scheduler.queue import Queue, Queued
from pybernetes.control_plane.scheduler.reports import Reports, Writer
from pybernetes.control_plane.scheduler.volume_binder import Reservation, VolumeBinder
from pybernetes.lib.clock import Clock
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, Action, Event
from pybernetes.scheduling.config import Configuration
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.diagnosis import Diagnosis
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.nominations import Nominations
from pybernetes.scheduling.plugins.volume_binding import VolumeBinding
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.preemption import Outcome, Preemption
from pybernetes.scheduling.profile import Profile
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot

log = logging.getLogger(__name__)
UNSCHEDULABLE, ERROR = "Unschedulable", "SchedulerError"
# How long decisions are made in one go before events and answers get their turn.
_SLICE_SECONDS = 0.004


class Scheduler:
    """One scheduler with all of its profiles. ``run`` works until it is cancelled."""

    def __init__(
        self,
        client: Client,
        configuration: Configuration | None = None,
        *,
        clock: Clock | None = None,
        chance: random.Random | None = None,
        max_unschedulable: float = 300.0,
    ) -> None:
        self.configuration = configuration or Configuration()
        self.clock = clock or Clock()
        self.metrics = SchedulerMetrics()
        resources = Resources()
        self.snapshot = Snapshot(resources)
        self.listers = Listers()
        self.nominations = Nominations(self.snapshot)
        self.profiles = {
            config.scheduler_name: Profile(config, self.snapshot, self.listers)
            for config in self.configuration.profiles
        }
        self.cycles = {
            name: Cycle(self.snapshot, profile, self.nominations, self.listers, chance)
            for name, profile in self.profiles.items()
        }
        self.queue = Queue(
            self.clock.monotonic,
            {name: profile.plugins.values() for name, profile in self.profiles.items()},
            initial_backoff=self.configuration.pod_initial_backoff_seconds,
            max_backoff=self.configuration.pod_max_backoff_seconds,
            max_unschedulable=max_unschedulable,
        )
        self.feeds = SchedulerInformers(client, PodReader(resources), NodeReader(resources), self.clock)
        self.assumed: dict[str, Pod] = {}  # decided on, and not yet seen to be bound
        self.intake = EventHandlers(
            self.snapshot, self.listers, self.nominations, self.queue, self.assumed, self.profiles
        )
        self.reservations: dict[str, Reservation] = {}  # by the uid of pods that wait for volumes
        self.volume_binders = {
            name: VolumeBinder(client, self.listers, self.snapshot, plugin.timeout)
            for name, profile in self.profiles.items()
            if isinstance(plugin := profile.plugins.get("VolumeBinding"), VolumeBinding)
        }
        self.binder = Binder(client, self._bind_volumes, self._bound, self._not_bound)
        self.writer = Writer(self.binder.idle)
        self.reports = Reports(client, self.writer, self.clock)
        self.evictor = Evictor(client, self.reports, self.clock, self._evicted)
        self.preemptions = {
            name: Preemption(
                self.snapshot, self.cycles[name], profile.preemption, self.nominations, self.listers, chance
            )
            for name, profile in self.profiles.items()
            if profile.preemption is not None
        }
        self._wake = asyncio.Event()
        self.queue.wake = self._wake.set
        self.running = False

    # -- the loop ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Schedule until cancelled."""
        self.intake.listen(self.feeds)
        for plural in ("persistentvolumes", "persistentvolumeclaims"):
            self.feeds.looked_up[plural][0].add_handler(self._volumes_changed)
        try:
            async with asyncio.TaskGroup() as group:
                for informer in self.feeds.all:
                    group.create_task(informer.run(), name=f"informer {informer.ref}")
                for informer in self.feeds.all:
                    await informer.wait_synced()
                self.running = True
                await self._loop()
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0]
        finally:
            self.running = False
            await self.binder.close()
            await self.evictor.close()
            await self.writer.close()

    async def _loop(self) -> None:
        while True:
            self._wake.clear()
            deadline = self.clock.monotonic() + _SLICE_SECONDS
            while (queued := self.queue.pop()) is not None:
                self.schedule(queued)
                if self.binder.full:
                    await self.binder.room()
                if self.clock.monotonic() > deadline:
                    await asyncio.sleep(0)
                    deadline = self.clock.monotonic() + _SLICE_SECONDS
            await self._wait()

    async def _wait(self) -> None:
        """Wait for a pod to become ready, or for the time when one will."""
        at = self.queue.next_flush()
        timer = (
            self.clock.call_later(max(0.0, at - self.clock.monotonic()), self._wake.set)
            if at is not None
            else None
        )
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()

    # -- one pod -----------------------------------------------------------------------------------------

    def schedule(self, queued: Queued) -> None:
        """Schedule a pod that was popped."""
        pod = queued.pod
        started = self.clock.monotonic()
        if pod.deleting:
            self.reports.failed(pod, f"skip schedule deleting pod: {pod.key}")
            self.queue.done(queued)
            return
        profile = pod.shape.scheduler
        try:
            decision = self.cycles[profile].decide(pod)
        except Exception as error:  # a bug in a plugin must not stop the scheduler
            log.exception("scheduling %s failed", pod.key)
            self.metrics.attempt("error", profile, self.clock.monotonic() - started)
            self._failed_with(queued, str(error))
            return
        self.metrics.decided(self.clock.monotonic() - started)
        if decision.node:
            self._assume(queued, decision.node)
        else:
            assert decision.diagnosis is not None
            self._unschedulable(queued, decision.diagnosis)
            self.metrics.attempt("unschedulable", profile, self.clock.monotonic() - started)

    def _assume(self, queued: Queued, node: str) -> None:
        placed = queued.pod.placed(node)
        self._reserve(placed)
        self.snapshot.add_pod(placed)
        self.assumed[placed.uid] = placed
        self.nominations.remove(placed.uid)
        self.queue.done(queued)
        self.binder.bind(queued, placed)

    def _reserve(self, pod: Pod) -> None:
        """Take the volumes that a pod gets on its node."""
        plugin = self.profiles[pod.shape.scheduler].plugins.get("VolumeBinding")
        if pod.shape.volumes is not None and isinstance(plugin, VolumeBinding):
            plan = plugin.plan(pod, pod.node)
            if plan.bindings or plan.provisions:
                self.reservations[pod.uid] = Reservation(self.listers, plan, pod.node)

    def _bind_volumes(self, pod: Pod) -> Awaitable[None] | None:
        reservation = self.reservations.get(pod.uid)
        if reservation is None:
            return None
        self.reports.nominated(pod, pod.node)  # for people: this may take a while
        return self.volume_binders[pod.shape.scheduler].bind(pod, reservation)

    def _volumes_changed(self, _old: Any, _new: Any) -> None:
        for binder in self.volume_binders.values():
            binder.changed()

    def _unschedulable(self, queued: Queued, diagnosis: Diagnosis) -> None:
        pod = queued.pod
        nominated: str | None = ""
        preemption = self.preemptions.get(pod.shape.scheduler)
        outcome = preemption.find(pod, diagnosis) if preemption is not None and diagnosis.node_count else None
        if outcome is not None:
            nominated = outcome.nominated
            diagnosis.after = f"preemption: {outcome.message}"
            self.metrics.preempted(len(outcome.victims), outcome.violations)
        message = str(diagnosis)
        self.queue.failed(queued, diagnosis.plugins)
        if nominated is not None:
            self.nominations.add(pod, nominated)
        if outcome is not None and outcome.nominated and outcome.victims:
            self._preempt(pod, outcome)
        self.reports.failed(pod, message)
        self.reports.condition(pod, UNSCHEDULABLE, message, nominated)

    def _preempt(self, pod: Pod, outcome: Outcome) -> None:
        """Evict the victims of a preemption; the pod waits until that has started."""
        node = outcome.nominated or ""
        for other in self.nominations.on(node):
            if other.priority < pod.priority:  # it will not get the place that was kept for it
                self.nominations.remove(other.uid)
                self.reports.nominated(other, "")
        self.queue.hold(pod.uid)
        self.evictor.evict(outcome.victims, pod, node)

    def _evicted(self, pod: Pod, failed: bool) -> None:
        self.queue.release(pod.uid, failed)

    def _failed_with(self, queued: Queued, message: str) -> None:
        self.queue.erred(queued)
        self.nominations.remove(queued.pod.uid)
        self.reports.failed(queued.pod, message)
        self.reports.condition(queued.pod, ERROR, message, "")

    # -- what became of a decision -----------------------------------------------------------------------

    def _bound(self, queued: Queued, pod: Pod) -> None:
        now = self.clock.monotonic()
        first = queued.first if queued.first is not None else now
        self.metrics.bound(pod.shape.scheduler, queued.attempts, now - queued.taken, now - first)
        self.reservations.pop(pod.uid, None)
        self.reports.scheduled(pod, pod.node)

    def _not_bound(self, queued: Queued, pod: Pod, error: Exception) -> None:
        reservation = self.reservations.pop(pod.uid, None)
        if reservation is not None:
            reservation.revert()
        if self.assumed.pop(pod.uid, None) is not pod:
            return  # it was bound or deleted meanwhile
        self.snapshot.remove_pod(pod)
        self.metrics.attempt("error", pod.shape.scheduler, self.clock.monotonic() - queued.taken)
        self.queue.move(Event(ASSIGNED_POD, Action.DELETE, pod))
        log.info("binding %s to %s failed: %s", pod.key, pod.node, error)
        self._failed_with(queued, f"binding rejected: {error}")

    def check(self) -> str | None:
        """Return why the scheduler is not ready, or None."""
        if self.feeds.synced:
            return None
        late: list[Any] = [str(informer.ref) for informer in self.feeds.all if not informer.synced]
        return f"not synced yet: {', '.join(late)}"
