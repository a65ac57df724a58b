"""Work in proportion to what others sent, kept away from the event loop when it is much.

The event loop serves everybody: nobody's request may hold it for more than a few milliseconds. Functions of large values
run on threads beside it (``run``), and so do functions that turn out to take long (``run_counting``); loops that belong to the loop
itself let others have their turn (``Pace``).

Who sends much waits for what he sent before, not others: each request says whom it is for (``on_behalf_of``), and those take
turns. Python runs one thread at a time anyway; the second one is there because a piece of work can take long. While
they work, Python changes threads more often, so that the loop gets its turn within a millisecond.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from functools import cache, partial
from itertools import count
from typing import Any, ParamSpec, TypeVar, TypeVarTuple, Unpack

from pybernetes.lib.event_loop.fair_turns import FairTurns, Owner
from pybernetes.lib.memory.bounded_cache import bounded_cache

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
_THREADS = 2
_SWITCH_SECONDS, _TURN_SECONDS = 0.0005, 0.004


class TakesLong(BaseException):
    """Leaves work that was begun on the loop and takes more steps than it may: it is begun again beside the loop."""


class _Turn(threading.local):
    """The steps that are left to the work on the loop; None on other threads, and for work that nobody can begin again."""

    left: int | None = None


_turn = _Turn()


# Whom the work of this context is for, and the number of the request.
_for: ContextVar[tuple[Owner, int]] = ContextVar("off_loop", default=(Owner(), 0))
_requests = count(1)
_waiting: FairTurns[tuple[Future[Any], Callable[[], Any]]] = FairTurns()
_lock = threading.Lock()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="off-loop")


@bounded_cache()  # one object for each: every task and timer of a request holds it
def owner(group: str, name: str) -> Owner:
    """Return who is meant by ``on_behalf_of``."""
    return Owner(group, name)


def on_behalf_of(owner: Owner) -> None:
    """Say whom a request is for that begins in this context."""
    _for.set((owner, next(_requests)))


async def run(size: int, function: Callable[[Unpack[Arguments]], Result], *args: *Arguments) -> Result:
    """Return what a function gives: it is called beside the loop if it has to do with more than ``LARGE`` bytes.

    Other requests go on meanwhile, so that the function must not use what they change.
    """
    if size <= LARGE:
        return function(*args)
    return await beside(function, *args)


async def beside(function: Callable[[Unpack[Arguments]], Result], *args: *Arguments) -> Result:
    """Return what a function gives that is called beside the loop, however little it has to do with."""
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
    future: Future[Result] = Future()
    owner, request = _for.get()
    with _lock:
        turn = _waiting.put(owner, request, (future, work))
    if turn:
        _threads().submit(_work)
    try:
        return await asyncio.wrap_future(future)
    finally:
        # An error knows the frames that it came through, and the future knows the error: what the work was about would
        # stay until garbage is collected.
        del future, work


def _work() -> None:
    """Run the piece of work whose turn it is."""
    with _lock:
        owner, (future, work) = _waiting.take()
    try:
        if future.set_running_or_notify_cancel():  # otherwise nobody waits for it any more
            _do(future, work)
    finally:
        del future, work
        with _lock:
            turn = _waiting.done(owner)
        if turn:
            _threads().submit(_work)


def _do(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        with _switching:
            result = work()
    except BaseException as error:
        future.set_exception(error)
        del future, work
    else:
        future.set_result(result)


class _Switching:
    """While work is done, Python changes threads often: usually it lets one go on for 5 ms."""

    def __init__(self) -> None:
        self._active, self._usual = 0, 0.0

    def __enter__(self) -> None:
        with _lock:
            self._active += 1
            if self._active == 1:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, _SWITCH_SECONDS))

    def __exit__(self, *_: object) -> None:
        with _lock:
            self._active -= 1
            if not self._active:
                sys.setswitchinterval(self._usual)


_switching = _Switching()


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
