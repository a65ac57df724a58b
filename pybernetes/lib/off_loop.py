"""Work in proportion to what others sent, kept away from the event loop when it is much.

The event loop serves everybody: nobody's request may hold it for more than a few milliseconds. Functions of large values
run on one thread beside it (``run``), and so do functions that turn out to take long (``run_counting``); loops that belong to the loop
itself let others have their turn (``Pace``).

One thread is enough, because Python runs one at a time anyway, and it is fair: who sends much waits for others who send
much. While it works, Python changes threads more often, so that the loop gets its turn within a millisecond.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar, TypeVarTuple, Unpack

Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
Arguments = TypeVarTuple("Arguments")
# Up to so many bytes work is done at once: Python takes a few milliseconds for them at most, and to hand work over takes
# a tenth of one.
LARGE = 16 << 10
# Of how many objects a list is as much work as that.
MANY = 200
# How many steps, of about a microsecond, work that counts them may take at once.
_STEPS = 4000
_SWITCH_SECONDS, _TURN_SECONDS = 0.0005, 0.004


class TakesLong(BaseException):
    """Leaves work that was begun on the loop and takes more steps than it may: it is begun again beside the loop."""


class _Turn(threading.local):
    """The steps that are left to the work on the loop; None on other threads, and for work that nobody can begin again."""

    left: int | None = None


_turn = _Turn()


@cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="off-loop")


async def run(size: int, function: Callable[[Unpack[Arguments]], Result], *args: *Arguments) -> Result:
    """Return what a function gives: it is called beside the loop if it has to do with more than ``LARGE`` bytes.

    Other requests go on meanwhile, so that the function must not use what they change.
    """
    if size <= LARGE:
        return function(*args)
    return await _beside(partial(function, *args))


async def run_counting(
    size: int, function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Do what ``run`` does for a function that counts its steps: it is called a second time if it takes too many."""
    if size <= LARGE:
        before, _turn.left = _turn.left, _STEPS
        try:
            return function(*args, **kwargs)
        except TakesLong:
            pass
        finally:
            _turn.left = before
    return await _beside(partial(function, *args, **kwargs))


async def _beside(work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(_thread(), _switching, work)


def _switching(work: Callable[[], Result]) -> Result:
    """Do work while Python changes threads often: usually it lets one go on for 5 ms."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _SWITCH_SECONDS))
    try:
        return work()
    finally:
        sys.setswitchinterval(before)


def steps_left() -> int | None:
    """Return how many steps may be taken at once; None if it does not matter."""
    return _turn.left


def spend(steps: int) -> None:
    """Count steps that were taken; TakesLong if they are too many for the loop."""
    if _turn.left is not None:
        _turn.left -= steps
        if _turn.left < 0:
            raise TakesLong


class Pace:
    """Lets others have their turn in a long loop: ``await pace()`` in each round costs nothing until it is due."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def __call__(self) -> None:
        if time.monotonic() - self._since > _TURN_SECONDS:
            await asyncio.sleep(0)
            self._since = time.monotonic()
