"""Who may use what the scheduler knows: one at a time, and beside the event loop where it takes long.

Whoever may make a pod may write thousands of wishes into it, which have to be read, held against every node, and counted. The
scheduler waits for that, other tasks on its event loop do not: nodes, pods and queue are one function's meanwhile.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar, TypeVarTuple, Unpack

from pybernetes.lib.event_loop import off_loop
from pybernetes.runtime.background import BackgroundTasks

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
Parameters = ParamSpec("Parameters")
_OWNER = off_loop.owner("", "kube-scheduler")


class Turns:
    """Functions that take turns. How much work they are is told in bytes that they have to walk through."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._tasks = BackgroundTasks("turn")
        self._worker = 0  # the thread that has the turn, if it is not the event loop's
        self._afterwards: list[Callable[[], object]] = []

    async def mine(self) -> None:
        """Wait until nobody has the turn: it is the caller's until the caller waits for anything."""
        while self._lock.locked():
            async with self._lock:
                pass

    async def run(
        self, weight: int, function: Callable[[Unpack[Arguments]], Result], *args: *Arguments
    ) -> Result:
        """Return what a function gives, in its turn."""
        if weight <= off_loop.LARGE:
            await self.mine()
            return function(*args)
        # It goes on when nobody waits for it any more, and has the turn as long as it does.
        return await asyncio.shield(self._tasks.start(self._beside(function, *args)))

    def start(self, weight: int, function: Callable[[Unpack[Arguments]], object], *args: *Arguments) -> None:
        """Have a function called in its turn, which is now if it can be."""
        if weight <= off_loop.LARGE and not self._lock.locked():
            function(*args)
        else:
            self._tasks.start(self.run(weight, function, *args))

    async def _beside(self, function: Callable[[Unpack[Arguments]], Result], *args: *Arguments) -> Result:
        async with self._lock:
            off_loop.on_behalf_of(_OWNER)
            try:
                return await off_loop.beside(self._worked, function, *args)
            finally:
                self._worker = 0
                afterwards, self._afterwards = self._afterwards, []
                for call in afterwards:
                    call()

    def _worked(self, function: Callable[[Unpack[Arguments]], Result], *args: *Arguments) -> Result:
        self._worker = threading.get_ident()
        return function(*args)

    def then(
        self, function: Callable[Parameters, object], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> None:
        """Call a function that belongs to the event loop: now, or at the end of the turn that another thread has."""
        if self._worker and threading.get_ident() == self._worker:
            self._afterwards.append(lambda: function(*args, **kwargs))
        else:
            function(*args, **kwargs)

    async def close(self) -> None:
        """Wait a moment for turns that wait."""
        await self._tasks.close(2.0)
