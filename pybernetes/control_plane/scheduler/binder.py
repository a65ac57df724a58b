"""Carries decisions out: many pods are on their way to their nodes at a time, and the scheduler goes on meanwhile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter

from pybernetes.client.errors import StatusError
from pybernetes.control_plane.scheduler.queue import Queued
from pybernetes.runtime.background import BackgroundTasks
from pybernetes.scheduling.plugin import BindingError, Rejection
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.point_times import ERROR, SUCCESS, UNSCHEDULABLE, PointTimes
from pybernetes.scheduling.profile import Profile

log = logging.getLogger(__name__)
# Enough to keep a server busy, and few enough that a decision is soon tested against reality.
IN_FLIGHT = 256
Waits = Sequence[Awaitable[Rejection | None]]
Done = Callable[[Queued, Pod], None]
Failed = Callable[[Queued, Pod, Exception], None]


class Rejected(Exception):
    """A plugin did not permit a pod to be bound."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.message)
        self.rejection = rejection


def discard(waits: Waits) -> None:
    """End what nobody will wait for."""
    for wait in waits:
        asyncio.ensure_future(wait).cancel()


class Binder:
    """Has the plugins of a pod's profile prepare and bind it.

    ``preparing`` is told of pods for which that takes a while, ``done`` and ``failed`` how it ended.
    """

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        preparing: Callable[[Pod], None],
        done: Done,
        failed: Failed,
        times: Mapping[str, PointTimes],
        waited: Callable[[str, float], None],
    ) -> None:
        self._profiles, self._times, self._waited = profiles, times, waited
        self._preparing, self._done, self._failed = preparing, done, failed
        self._tasks = BackgroundTasks("bind")
        self._binding = 0  # without those that wait for something, such as their volumes
        self._room: asyncio.Future[None] | None = None
        self._idle: asyncio.Future[None] | None = None

    @property
    def full(self) -> bool:
        """Whether enough bindings are under way."""
        return self._binding >= IN_FLIGHT

    async def room(self) -> None:
        """Wait until there is room for another binding."""
        while self.full:
            if self._room is None or self._room.done():
                self._room = asyncio.get_running_loop().create_future()
            await self._room

    async def idle(self) -> None:
        """Wait until no binding is under way."""
        while self._binding:
            if self._idle is None or self._idle.done():
                self._idle = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._idle)

    def bind(self, queued: Queued, pod: Pod, waits: Waits = ()) -> None:
        """Start to bind a pod to the node that it is assumed on, once all ``waits`` have ended."""
        self._tasks.start(self._run(queued, pod, waits))

    async def _run(self, queued: Queued, pod: Pod, waits: Waits) -> None:
        try:
            if waits:
                await self._permitted(waits)
            await self._bind(pod)
        except (StatusError, OSError, TimeoutError, BindingError, Rejected) as error:
            self._failed(queued, pod, error)
        except Exception as error:  # a bug in a plugin must not keep a place that nobody uses
            log.exception("binding %s failed", pod.key)
            self._failed(queued, pod, error)
        else:
            self._done(queued, pod)

    async def _permitted(self, waits: Waits) -> None:
        """Wait until every plugin permits a pod; Rejected if one does not."""
        begin, status = perf_counter(), SUCCESS
        try:
            for number, wait in enumerate(waits, 1):
                rejection = await wait
                if rejection is not None:
                    discard(waits[number:])
                    status = UNSCHEDULABLE
                    raise Rejected(rejection)
        except Rejected:
            raise
        except BaseException:
            status = ERROR
            raise
        finally:
            self._waited(status, perf_counter() - begin)

    async def _prepare(self, pod: Pod, profile: Profile) -> None:
        told = False
        for pre_bind in profile.pre_binds:
            preparation = pre_bind.pre_bind(pod)
            if preparation is not None:
                if not told:
                    self._preparing(pod)
                    told = True
                await preparation

    async def _bind(self, pod: Pod) -> None:
        profile, times = self._profiles[pod.shape.scheduler], self._times[pod.shape.scheduler]
        point, begin = "PreBind", perf_counter()
        try:
            await self._prepare(pod, profile)
            begin, point = times.point(point, SUCCESS, begin), "Bind"
            await self._write(pod, profile)
        except Exception:
            times.point(point, ERROR, begin)
            raise
        times.point(point, SUCCESS, begin)

    async def _write(self, pod: Pod, profile: Profile) -> None:
        self._binding += 1
        try:
            for plugin in profile.binds:
                binding = plugin.bind(pod)
                if binding is not None:
                    await binding
                    return
            raise BindingError("no plugin binds the pod")
        finally:
            self._binding -= 1
            self._wake()

    def _wake(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        if not self._binding and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def close(self, seconds: float = 5.0) -> None:
        """Wait for the bindings in flight: nobody else may decide before it is known what was bound."""
        await self._tasks.close(seconds)
