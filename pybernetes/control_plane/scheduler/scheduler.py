"""The scheduler: watches the cluster, schedules one pod after the other, and has them bound."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Sequence
from functools import partial
from time import perf_counter

from pybernetes.client.client import Client
from pybernetes.control_plane.scheduler import resource_metrics
from pybernetes.control_plane.scheduler.binder import Binder, Rejected, discard
from pybernetes.control_plane.scheduler.cluster_writer import ClusterWriter
from pybernetes.control_plane.scheduler.event_handlers import EventHandlers
from pybernetes.control_plane.scheduler.evictor import Evictor
from pybernetes.control_plane.scheduler.informers import SchedulerInformers
from pybernetes.control_plane.scheduler.metrics import SchedulerMetrics
from pybernetes.control_plane.scheduler.queue import Queue, Queued
from pybernetes.control_plane.scheduler.reports import Reports, Writer
from pybernetes.control_plane.scheduler.steps import steps_of
from pybernetes.control_plane.scheduler.turns import Turns
from pybernetes.lib.clock import Clock
from pybernetes.runtime.manager import Manager
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, Action, Event
from pybernetes.scheduling.config import Configuration, ConfigurationError
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.diagnosis import Diagnosis
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.plugin import Outcome, QueueSortPlugin, Rejection
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.point_times import SUCCESS, made_room, permitted, rejected
from pybernetes.scheduling.profile import Profile
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot

log = logging.getLogger(__name__)
UNSCHEDULABLE, ERROR = "Unschedulable", "SchedulerError"
# Labels are held against so many bytes of terms in the time that is taken for reading one of them and asking every node.
_MATCHED = 8
# How long decisions are made in one go before events and answers get their turn.
_SLICE_SECONDS = 0.004


def queue_sort(profiles: Sequence[Profile]) -> QueueSortPlugin:
    """Return the plugin that sorts the one queue of all profiles; raise ConfigurationError if they differ."""
    first = profiles[0].queue_sort
    for profile in profiles:
        if profile.queue_sort.name != first.name:
            raise ConfigurationError(
                f'different queue sort plugins for profile "{profile.scheduler_name}": '
                f'"{profile.queue_sort.name}", first: "{first.name}"'
            )
    return first


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
        resources = self.resources = Resources()
        self.snapshot = Snapshot(resources)
        self.listers = Listers()
        handle = Handle(self.snapshot, self.listers, ClusterWriter(client), chance)
        self.nominations = handle.nominations
        self.profiles = {
            config.scheduler_name: Profile(config, handle) for config in self.configuration.profiles
        }
        self.cycles = {name: Cycle(handle, profile) for name, profile in self.profiles.items()}
        self.queue = Queue(
            self.clock.monotonic,
            {name: profile.plugins.values() for name, profile in self.profiles.items()},
            queue_sort(list(self.profiles.values())).sort_key,
            initial_backoff=self.configuration.pod_initial_backoff_seconds,
            max_backoff=self.configuration.pod_max_backoff_seconds,
            max_unschedulable=max_unschedulable,
        )
        self.turns = Turns()
        self.informers = SchedulerInformers(
            client,
            PodReader(resources),
            NodeReader(resources),
            self.clock,
            self.turns,
            lambda: self._weight() + self.queue.weight // _MATCHED,
        )
        self.assumed: dict[str, Pod] = {}  # decided on, and not yet seen to be bound
        self.event_handlers = EventHandlers(
            self.snapshot, self.listers, self.nominations, self.queue, self.assumed, self.profiles
        )
        times = {name: cycle.times for name, cycle in self.cycles.items()}
        self.binder = Binder(
            self.profiles,
            self._preparing,
            self._bound,
            self._binding_failed,
            times,
            self.metrics.waited,
        )
        self.writer = Writer(self.binder.idle)
        self.reports = Reports(client, self.writer, self.clock)
        self.evictor = Evictor(client, self.reports, self.clock, self._evicted)
        self._wake = asyncio.Event()
        self.queue.wake = partial(self.turns.then, self._wake.set)
        self.running = False

    # -- the loop ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Schedule until cancelled."""
        self.event_handlers.listen(self.informers)
        try:
            async with asyncio.TaskGroup() as group:
                for informer in self.informers.all:
                    group.create_task(informer.run(), name=f"informer {informer.ref}")
                for informer in self.informers.all:
                    await informer.wait_synced()
                self.running = True
                await self._loop()
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0]
        finally:
            self.running = False
            await self.binder.close()
            await self.evictor.close()
            await self.turns.close()
            await self.writer.close()

    async def _loop(self) -> None:
        while True:
            self._wake.clear()
            deadline = self.clock.monotonic() + _SLICE_SECONDS
            while (queued := await self._next()) is not None:
                await self.turns.run(self._weight(queued.pod), self.schedule, queued)
                if self.binder.full:
                    await self.binder.room()
                if self.clock.monotonic() > deadline:
                    await asyncio.sleep(0)
                    deadline = self.clock.monotonic() + _SLICE_SECONDS
            await self._wait()

    async def _next(self) -> Queued | None:
        await self.turns.mine()
        return self.queue.pop()

    def _weight(self, pod: Pod | None = None) -> int:
        """Return how many bytes a decision about a pod, or any change, has to do with."""
        return (pod.shape.weight if pod is not None else 0) + self.snapshot.weight // _MATCHED

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
            self.turns.then(self.reports.failed, pod, f"skip schedule deleting pod: {pod.key}")
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
        queued.decided = self.clock.monotonic()
        self.metrics.decided(queued.decided - started)
        if decision.node:
            queued.choice = self.snapshot.node_count, decision.feasible, self.cycles[profile].times.scoring
            self._assume(queued, decision.node)
        else:
            assert decision.diagnosis is not None
            self._unschedulable(queued, decision.diagnosis)
            self.metrics.attempt("unschedulable", profile, self.clock.monotonic() - started)

    def _assume(self, queued: Queued, node: str) -> None:
        """Have a pod bound to its node, unless a plugin has a reason against that."""
        pod = queued.pod.placed(node)
        cycle = self.cycles[pod.shape.scheduler]
        profile = cycle.profile
        waits: list[Awaitable[Rejection | None]] = []
        try:
            rejection = self._reserve(pod, cycle) or self._ask_to_permit(pod, cycle, waits)
        except Exception as error:  # a bug in a plugin must not stop the scheduler
            log.exception("reserving for %s failed", pod.key)
            self._unreserve(pod)
            self.metrics.attempt("error", profile.scheduler_name, self.clock.monotonic() - queued.taken)
            self._failed_with(queued, str(error))
            return
        if rejection is not None:
            self.turns.then(discard, waits)
            self._unreserve(pod)
            self._rejected(queued, rejection)
            return
        self.snapshot.add_pod(pod)
        self.assumed[pod.uid] = pod
        self.nominations.remove(pod.uid)
        self.queue.done(queued)
        self.turns.then(self.binder.bind, queued, pod, waits)

    def _reserve(self, pod: Pod, cycle: Cycle) -> Rejection | None:
        begin, rejection = perf_counter(), None
        for plugin in cycle.times.timed(cycle.profile.reserves):
            rejection = plugin.reserve(pod)
            if rejection is not None:
                break
        cycle.times.point("Reserve", rejected(rejection), begin)
        return rejection

    def _ask_to_permit(
        self, pod: Pod, cycle: Cycle, waits: list[Awaitable[Rejection | None]]
    ) -> Rejection | None:
        begin = perf_counter()
        for plugin in cycle.times.timed(cycle.profile.permits):
            answer = plugin.permit(pod)
            if isinstance(answer, Rejection):
                cycle.times.point("Permit", permitted(answer), begin)
                return answer
            if answer is not None:
                waits.append(answer)
        cycle.times.point("Permit", permitted(waits or None), begin)
        return None

    def _unreserve(self, pod: Pod) -> None:
        begin = perf_counter()
        for plugin in reversed(self.profiles[pod.shape.scheduler].reserves):
            plugin.unreserve(pod)
        self.cycles[pod.shape.scheduler].times.point("Unreserve", SUCCESS, begin)

    def _rejected(self, queued: Queued, rejection: Rejection) -> None:
        """Let a pod wait that was turned away after its node was chosen."""
        diagnosis = Diagnosis(1)
        diagnosis.count(rejection.message, 1)
        diagnosis.plugins.add(rejection.plugin)
        self.metrics.attempt(
            "unschedulable", queued.pod.shape.scheduler, self.clock.monotonic() - queued.taken
        )
        self._unscheduled(queued, diagnosis, "")

    def _preparing(self, pod: Pod) -> None:
        self.turns.then(self.reports.nominated, pod, pod.node)  # for people: this may take a while

    def _unschedulable(self, queued: Queued, diagnosis: Diagnosis) -> None:
        """Try to make room for a pod that fits nowhere, and let it wait."""
        pod = queued.pod
        nominated: str | None = ""
        outcome = self._make_room(pod, diagnosis) if diagnosis.node_count else None
        if outcome is not None:
            nominated = outcome.nominated
            diagnosis.after = f"preemption: {outcome.message}"
            self.metrics.preempted(len(outcome.victims), outcome.violations)
        self._unscheduled(queued, diagnosis, nominated, outcome)

    def _make_room(self, pod: Pod, diagnosis: Diagnosis) -> Outcome | None:
        cycle = self.cycles[pod.shape.scheduler]
        begin, outcome = perf_counter(), None
        for plugin in cycle.times.timed(cycle.profile.post_filters):
            outcome = plugin.post_filter(pod, diagnosis, cycle)
            if outcome is not None:
                break
        cycle.times.point("PostFilter", made_room(outcome), begin)
        return outcome

    def _unscheduled(
        self, queued: Queued, diagnosis: Diagnosis, nominated: str | None, outcome: Outcome | None = None
    ) -> None:
        """Let a pod wait, and report why."""
        pod, message = queued.pod, str(diagnosis)
        self.queue.failed(queued, diagnosis.plugins)
        if nominated is not None:
            self.nominations.add(pod, nominated)
        if outcome is not None and outcome.nominated and outcome.victims:
            self._preempt(pod, outcome)
        self.turns.then(self.reports.failed, pod, message)
        self.turns.then(self.reports.condition, pod, UNSCHEDULABLE, message, nominated)

    def _preempt(self, pod: Pod, outcome: Outcome) -> None:
        """Evict the victims of a preemption; the pod waits until that has started."""
        node = outcome.nominated or ""
        for other in self.nominations.on(node):
            if other.priority < pod.priority:  # it will not get the place that was kept for it
                self.nominations.remove(other.uid)
                self.turns.then(self.reports.nominated, other, "")
        self.queue.hold(pod.uid)
        self.turns.then(self.evictor.evict, outcome.victims, pod, node)

    def _evicted(self, pod: Pod, failed: bool) -> None:
        self.turns.start(0, self.queue.release, pod.uid, failed)

    def _failed_with(self, queued: Queued, message: str) -> None:
        self.queue.erred(queued)
        self.nominations.remove(queued.pod.uid)
        self.turns.then(self.reports.failed, queued.pod, message)
        self.turns.then(self.reports.condition, queued.pod, ERROR, message, "")

    # -- what became of a decision -----------------------------------------------------------------------

    def _bound(self, queued: Queued, pod: Pod) -> None:
        now = self.clock.monotonic()
        first = queued.first if queued.first is not None else now
        self.metrics.bound(pod.shape.scheduler, queued.attempts, now - queued.taken, now - first)
        self.reports.scheduled(pod, pod.node, partial(steps_of, queued, pod.node, first, now))
        times, begin = self.cycles[pod.shape.scheduler].times, perf_counter()
        for plugin in self.profiles[pod.shape.scheduler].post_binds:
            plugin.post_bind(pod)
        times.point("PostBind", SUCCESS, begin)

    def _binding_failed(self, queued: Queued, pod: Pod, error: Exception) -> None:
        weight = self._weight(pod) + self.queue.weight // _MATCHED
        self.turns.start(weight, self._not_bound, queued, pod, error)

    def _not_bound(self, queued: Queued, pod: Pod, error: Exception) -> None:
        self._unreserve(pod)
        if self.assumed.pop(pod.uid, None) is not pod:
            return  # it was bound or deleted meanwhile
        self.snapshot.remove_pod(pod)
        self.queue.move(Event(ASSIGNED_POD, Action.DELETE, pod))
        log.info("binding %s to %s failed: %s", pod.key, pod.node, error)
        if isinstance(error, Rejected):
            self.queue.put_back(queued)
            self._rejected(queued, error.rejection)
            return
        self.metrics.attempt("error", pod.shape.scheduler, self.clock.monotonic() - queued.taken)
        self._failed_with(queued, f"binding rejected: {error}")

    def show_on(self, manager: Manager) -> None:
        """Have a manager show what this scheduler counts."""
        manager.metrics.more.append(lambda text: self.metrics.write(text, self))
        manager.pages["/metrics/resources"] = resource_metrics.page(self.informers.pods, self.resources)

    def check(self) -> str | None:
        """Return why the scheduler is not ready, or None."""
        if self.informers.synced:
            return None
        late = [str(informer.ref) for informer in self.informers.all if not informer.synced]
        return f"not synced yet: {', '.join(late)}"
