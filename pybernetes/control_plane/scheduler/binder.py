"""Carries out decisions: many bindings are under way at a time, and the scheduler goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable

from pybernetes.client.client import Client
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import PODS
from pybernetes.control_plane.scheduler.queue import Queued
from pybernetes.scheduling.plugins.default_binder import DefaultBinder
from pybernetes.scheduling.pods import Pod

log = logging.getLogger(__name__)
# Enough to keep a server busy, and few enough that a decision is soon tested against reality.
IN_FLIGHT = 256
Before = Callable[[Pod], "Awaitable[None] | None"]
Done = Callable[[Queued, Pod], None]
Failed = Callable[[Queued, Pod, Exception], None]


class BindingError(Exception):
    """A binding was not made."""


class Binder:
    """Writes bindings. ``before`` is what must be done first (volumes), ``done`` and ``failed`` what follows."""

    def __init__(self, client: Client, before: Before, done: Done, failed: Failed) -> None:
        self._client = client
        self._before, self._done, self._failed = before, done, failed
        self._tasks: set[asyncio.Task[None]] = set()
        self._binding = 0  # without those that wait for their volumes
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

    def bind(self, queued: Queued, pod: Pod) -> None:
        """Start to bind a pod to the node that it is assumed on."""
        # A context of its own: these writes are nobody's reconcile.
        task = asyncio.create_task(self._bind(queued, pod), context=contextvars.Context(), name="bind")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _bind(self, queued: Queued, pod: Pod) -> None:
        try:
            before = self._before(pod)
            if before is not None:
                await before
            self._binding += 1
            try:
                await self._client.create(
                    PODS,
                    DefaultBinder.binding(pod, pod.node),
                    pod.namespace,
                    name=pod.name,
                    subresource="binding",
                )
            finally:
                self._binding -= 1
                self._wake()
        except (StatusError, OSError, TimeoutError, BindingError) as error:
            self._failed(queued, pod, error)
        else:
            self._done(queued, pod)

    def _wake(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        if not self._binding and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def close(self, seconds: float = 5.0) -> None:
        """Wait for the bindings in flight: nobody else may decide before it is known what was bound."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
