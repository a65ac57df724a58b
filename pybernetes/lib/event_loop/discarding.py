"""Large values let go in slices: freeing one with a million objects in it holds Python for as long as reading it would."""

from __future__ import annotations

import asyncio
import time
from sys import getrefcount
from typing import Any

from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.memory import gc_tuning

# References to a container that nobody else has: the one here, and the argument of the call that counts them.
_OURS = 2
# How often, and how long, it is looked whether others still have a value.
_SECONDS, _PATIENCE = 0.1, 60.0
# The values that are to be let go once nobody else has them, and until when that is waited for.
_values: list[Any] = []
_deadlines: list[float] = []
_tasks: set[asyncio.Future[None]] = set()


def discard_later(size: int, *values: Any) -> None:
    """Have values that were made from so many bytes let go beside the event loop, once nobody has them any more."""
    if size <= off_loop.LARGE:
        return
    if not _values:
        asyncio.get_running_loop().call_later(_SECONDS, _look)
    _values.extend(values)
    _deadlines.extend([time.monotonic() + _PATIENCE] * len(values))


def _look() -> None:
    now, free = time.monotonic(), []
    for index in range(len(_values) - 1, -1, -1):
        is_free = getrefcount(_values[index]) == _OURS
        if is_free:
            free.append(_values[index])
        if is_free or _deadlines[index] < now:
            del _values[index], _deadlines[index]
    loop = asyncio.get_running_loop()
    if free:
        task = loop.create_task(_let_go(free))
        _tasks.add(task)
        task.add_done_callback(_tasks.discard)
    if _values:
        loop.call_later(_SECONDS, _look)


async def _let_go(values: list[Any]) -> None:
    await off_loop.beside(discard, values)
    # Those who come while one waits for the time to give memory back need not do so as well.
    if len(_tasks) == 1:
        while seconds := await off_loop.beside(gc_tuning.return_memory):
            await asyncio.sleep(seconds)


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
