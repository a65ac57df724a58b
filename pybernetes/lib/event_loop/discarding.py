"""Large values let go in slices: freeing one with a million objects in it holds Python for as long as reading it would."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from sys import getrefcount
from typing import Any

from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.memory import gc_tuning

# References to a container that nobody else has: the one here, and the argument of the call that counts them.
_OURS = 2
# How often, and how long, it is looked whether others still have a value.
_SECONDS, _PATIENCE = 0.1, 60.0


class _Discarding:
    """What is to be let go beside one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        # The values that are to be let go once nobody else has them, and until when that is waited for.
        self._values: list[Any] = []
        self._deadlines: list[float] = []
        self._tasks: set[asyncio.Future[None]] = set()

    def add(self, values: Iterable[Any]) -> None:
        if not self._values:
            self.loop.call_later(_SECONDS, self._look)
        count = len(self._values)
        self._values.extend(values)
        self._deadlines.extend([time.monotonic() + _PATIENCE] * (len(self._values) - count))

    def _look(self) -> None:
        now, free = time.monotonic(), []
        for index in range(len(self._values) - 1, -1, -1):
            is_free = getrefcount(self._values[index]) == _OURS
            if is_free:
                free.append(self._values[index])
            if is_free or self._deadlines[index] < now:
                del self._values[index], self._deadlines[index]
        if free:
            task = self.loop.create_task(self._let_go(free))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._values:
            self.loop.call_later(_SECONDS, self._look)

    async def _let_go(self, values: list[Any]) -> None:
        await off_loop.beside(discard, values)
        # Those who come while one waits for the time to give memory back need not do so as well.
        if len(self._tasks) == 1:
            while seconds := await off_loop.beside(gc_tuning.return_memory):
                await asyncio.sleep(seconds)


_discarding: _Discarding | None = None


def discard_later(size: int, *values: Any) -> None:
    """Have values that were made from so many bytes let go beside the event loop, once nobody has them any more."""
    global _discarding
    if size <= off_loop.LARGE:
        return
    loop = asyncio.get_running_loop()
    if _discarding is None or _discarding.loop is not loop:
        _discarding = _Discarding(loop)
    _discarding.add(values)


def discard(values: list[Any]) -> None:
    """Take apart values that only this list holds, one array or object after the other; what others hold too stays."""
    while values:
        value = values.pop()
        if type(value) is dict and getrefcount(value) == _OURS:
            values += [item for item in value.values() if type(item) in (dict, list)]
            value.clear()
        elif type(value) is list and getrefcount(value) == _OURS:
            values += [item for item in value if type(item) in (dict, list)]
            value.clear()
