"""How a program runs: on a fast event loop, until SIGINT or SIGTERM, with errors told in one line."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any


def run(name: str, work: Coroutine[Any, Any, int], *errors: type[Exception]) -> int:
    """Run a program on uvloop and return its exit code; OSError, ValueError and the given errors become a message."""
    import uvloop

    expected: tuple[type[Exception], ...] = (OSError, ValueError, *errors)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)
    except expected as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1


def stop_event() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set."""
    stop = asyncio.Event()
    _on_signal(stop.set)
    return stop


async def until_signal(work: Coroutine[Any, Any, Any]) -> None:
    """Await work that SIGINT and SIGTERM cancel, which is its normal end."""
    task = asyncio.ensure_future(work)
    _on_signal(task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _on_signal(handler: Callable[[], object]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, handler)
