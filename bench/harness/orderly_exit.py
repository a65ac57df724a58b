"""A benchmark that is told to end early cleans up as it does at its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 30.0


@contextlib.contextmanager
def orderly_exit() -> Iterator[None]:
    """Make the first signal end what runs inside so that every ``finally`` is reached; end processes that it left.

    Later signals do not disturb the cleaning up. A signal that was ignored before, as by nohup, stays ignored.
    """
    thread, others = threading.get_ident(), set(_children())
    got: list[int] = []  # the signal that ends it, once its exception is on its way
    telling, over = False, threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        if got or telling:
            return
        got.append(number)
        print(f"{signal.Signals(number).name}: cleaning up", file=sys.stderr, flush=True)
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise _Ended(128 + number) from None
        loop.call_soon_threadsafe(_cancel, loop)  # an exception could get lost in a callback of the loop

    def lost(unraisable: sys.UnraisableHookArgs) -> None:
        # The signal came inside a destructor, whose exceptions go nowhere, as those in here do: it comes again afterwards.
        nonlocal telling
        if isinstance(unraisable.exc_value, _Ended):
            telling = True
            threading.Thread(target=again, args=(got[0],), daemon=True).start()
            telling = False
        else:
            hook(unraisable)

    def again(number: int) -> None:
        got.clear()
        while not got and not over.wait(0.05):
            # To the thread that is meant: sent to the process, this one could take it, and the other would sleep on.
            signal.pthread_kill(thread, number)

    before = {
        number: signal.getsignal(number) for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, end)
    hook, sys.unraisablehook = sys.unraisablehook, lost
    try:
        yield
    except asyncio.CancelledError:
        if not got:
            raise
    finally:
        over.set()
        _end_children(others)
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
    if got:
        raise SystemExit(128 + got[0])


class _Ended(SystemExit):
    """What a signal raises."""


def _cancel(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


def _end_children(others: set[int]) -> None:
    """End the children of this process that are still there, but for some: by SIGTERM, and later by SIGKILL."""
    deadline = time.monotonic() + _PATIENCE
    left = set(_children()) - others
    for pid in left:
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGCONT)  # a benchmark may have stopped it
    while left:
        if time.monotonic() > deadline:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
        left = {pid for pid in left if _runs(pid)}


def _children() -> Iterator[int]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        # Others come and go meanwhile; one that just went may have an empty file.
        with contextlib.suppress(OSError, IndexError):
            if int(Path("/proc", name, "stat").read_text().rpartition(")")[2].split()[1]) == os.getpid():
                yield int(name)


def _runs(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    return False
