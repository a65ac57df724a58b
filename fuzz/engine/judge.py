"""Runs a target on one input and says what is wrong with what it did."""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from fuzz.engine.target import Target

HANG_SECONDS = 10.0
# What one input may add to the most memory that the process ever had, beside a multiple of its own size.
_MEGABYTES = 64
_TIMES = 400


class Hang(BaseException):
    """The target does not come to an end; no ``except Exception`` of the target's may swallow it."""


@dataclass(frozen=True)
class Failure:
    """What went wrong, in a few words by which others of its kind are recognized, and at length."""

    kind: str
    text: str


def judge(target: Target, data: bytes) -> Failure | None:
    """Run the target on an input; return what is wrong, or None."""
    before = _most_memory()
    failure, seconds = _attempt(target, data)
    if failure is not None:
        return failure
    grown = _most_memory() - before
    if grown > (_MEGABYTES << 20) + _TIMES * len(data):
        return Failure("memory", f"{grown >> 20} MB more for {len(data)} bytes")
    limit = target.seconds + target.per_byte * len(data)
    if seconds > limit:
        # Others on the machine, or a collection of garbage, may have been in the way: the best of three counts.
        seconds = min(seconds, *(_attempt(target, data)[1] for _ in range(2)))
        if seconds > limit:
            return Failure(
                "slow", f"{seconds:.3f} s of processor time for {len(data)} bytes, limit {limit:.3f} s"
            )
    return None


def _most_memory() -> int:
    """Return the most bytes that the process ever had; what getrusage says begins with what its parent had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _attempt(target: Target, data: bytes) -> tuple[Failure | None, float]:
    begin = time.process_time()
    try:
        with _at_most(HANG_SECONDS):
            target.run(data)
    except target.refuses:
        pass
    except Hang:
        return Failure("hang", f"more than {HANG_SECONDS:.0f} s of processor time"), HANG_SECONDS
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        kind = f"{type(error).__name__} in {last.filename.rpartition('/')[2]}:{last.name}"
        return Failure(kind, "".join(traceback.format_exception(error, limit=-8))), 0.0
    return None, time.process_time() - begin


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise Hang inside when the processor time of the process is used up."""

    def end(number: int, frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
