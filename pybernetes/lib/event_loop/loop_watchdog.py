"""Finds what holds an event loop: how long its longest turn took, and which function it was in.

A thread asks the loop for a sign of life and, when none comes, looks where the loop's thread is. What counts is the
processor time of that thread, not the time that passed, so that a loaded machine accuses nobody.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from pybernetes.lib.metrics.exposition import Exposition

log = logging.getLogger(__name__)
_PACKAGE = __name__.partition(".")[0]
_LOOK_SECONDS = 0.002


@dataclass(frozen=True)
class Turn:
    """A turn of the loop that took long: its processor time, and the function that it was in most of the time."""

    seconds: float
    function: str


class LoopWatchdog:
    """Watches the loop that runs when it is started."""

    def __init__(
        self, threshold: float, on_turn: Callable[[Turn], object] | None = None, asks_every: float = 0.010
    ) -> None:
        self.threshold, self.asks_every = threshold, asks_every
        self.turns, self.longest = 0, Turn(0.0, "")
        self._on_turn = on_turn or _warn
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to watch the running loop, which must run on the calling thread."""
        loop, held = asyncio.get_running_loop(), threading.get_ident()
        self._thread = threading.Thread(
            target=self._watch, args=(loop, held), name="loop-watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End watching."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self, loop: asyncio.AbstractEventLoop, held: int) -> None:
        clock = time.pthread_getcpuclockid(held)
        alive = threading.Event()
        while not self._stopped.wait(self.asks_every):
            alive.clear()
            start = time.clock_gettime(clock)
            try:
                loop.call_soon_threadsafe(alive.set)
            except RuntimeError:  # it is closed
                return
            seen: Counter[str] = Counter()
            while not alive.wait(_LOOK_SECONDS) and not self._stopped.is_set():
                seen[_function(sys._current_frames().get(held))] += 1
            seconds = time.clock_gettime(clock) - start
            if seconds >= self.threshold and seen:
                self._note(Turn(seconds, seen.most_common(1)[0][0]))

    def _note(self, turn: Turn) -> None:
        self.turns += 1
        if turn.seconds > self.longest.seconds:
            self.longest = turn
        self._on_turn(turn)

    def render(self, out: Exposition) -> None:
        """Write the metrics."""
        out.family(
            "pybernetes_event_loop_long_turns_total", "counter", "Turns of the event loop over the threshold."
        )
        out.sample("pybernetes_event_loop_long_turns_total", (), self.turns)
        out.family(
            "pybernetes_event_loop_longest_turn_seconds", "gauge", "Processor time of the longest of them."
        )
        labels = (("function", self.longest.function),) if self.turns else ()
        out.sample("pybernetes_event_loop_longest_turn_seconds", labels, self.longest.seconds)


def _warn(turn: Turn) -> None:
    log.warning("the event loop was held for %.0f ms by %s", turn.seconds * 1000, turn.function)


def _function(frame: FrameType | None) -> str:
    """Return the innermost function of this project that a thread is in, or what it is in otherwise."""
    innermost = frame
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
            return _name(frame)
        frame = frame.f_back
    return _name(innermost) if innermost is not None else "nothing"


def _name(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}:{frame.f_lineno}"
