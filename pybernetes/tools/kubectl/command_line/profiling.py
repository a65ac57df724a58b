"""--profile: where a command spends its time and its memory.

The files are in the format of pprof, which ``go tool pprof``, speedscope and others read; a trace is one of trace events, which
Perfetto and Chrome's about:tracing read.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import contextmanager

from pybernetes.lib.profiling.pprof_format import profile
from pybernetes.lib.profiling.profiling import heap_profile, stack_of
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    from pybernetes.lib.profiling.pprof_format import Stack

# What an interpreter of Python does not note.
_UNKNOWN = {
    "allocs": "memory that was given back is not counted",
    "mutex": "it is not noted who holds a lock",
}
_INTERVAL = 0.001
_DEPTH = 16


def profiled(name: str, output: str, work: Callable[[], int | None]) -> int | None:
    """Do some work, and write the profile that was asked for, even if the work fails."""
    if name in _UNKNOWN:
        raise CommandError(f"profile '{name}' is not supported: {_UNKNOWN[name]}")
    if name not in _PROFILES:
        raise CommandError(f"unknown profile '{name}'")
    if name in ("cpu", "trace"):
        _write(output, b"")  # rather no work than no profile
    result: list[bytes] = []
    try:
        with _PROFILES[name](result):
            return work()
    finally:
        _write(output, result[0])


def _write(path: str, data: bytes) -> None:
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from None


def _used_by(ident: int) -> int | None:
    """Return the processor's time that a thread has used; None if it has ended."""
    try:
        return time.clock_gettime_ns(time.pthread_getcpuclockid(ident))
    except OSError:
        return None


class _Sampler(threading.Thread):
    """Looks at the other threads again and again: what each has computed since, and how long it has waited."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.computing: dict[Stack, list[int]] = {}
        self.waiting: dict[Stack, list[int]] = {}
        self._ended = threading.Event()
        self._used = {ident: used for ident in sys._current_frames() if (used := _used_by(ident)) is not None}

    def run(self) -> None:
        """Look until told to end; time goes to where a thread is at the end of it."""
        moment = time.monotonic_ns()
        ended = False
        while not ended:
            ended = self._ended.wait(_INTERVAL)
            now = time.monotonic_ns()
            for ident, frame in sys._current_frames().items():
                used = _used_by(ident)
                if ident == self.ident or used is None:
                    continue
                computed = min(used - self._used.get(ident, 0), now - moment)
                self._used[ident] = used
                stack = stack_of(frame)
                for samples, nanoseconds in (
                    (self.computing, computed),
                    (self.waiting, now - moment - computed),
                ):
                    if nanoseconds > 0:
                        entry = samples.setdefault(stack, [0, 0])
                        entry[0] += 1
                        entry[1] += nanoseconds
            moment = now

    def end(self) -> None:
        """Look once more, and no more."""
        self._ended.set()
        self.join()


@contextmanager
def _sampled(types: tuple[tuple[str, str], ...], which: str, result: list[bytes]) -> Iterator[None]:
    sampler, begin, switching = _Sampler(), time.time(), sys.getswitchinterval()
    sys.setswitchinterval(_INTERVAL / 2)
    sampler.start()
    try:
        yield
    finally:
        sampler.end()
        sys.setswitchinterval(switching)
        result.append(profile(getattr(sampler, which), types, time.time() - begin, begin))


def _cpu(result: list[bytes]) -> Any:
    return _sampled((("samples", "count"), ("cpu", "nanoseconds")), "computing", result)


def _block(result: list[bytes]) -> Any:
    return _sampled((("contentions", "count"), ("delay", "nanoseconds")), "waiting", result)


@contextmanager
def _heap(result: list[bytes]) -> Iterator[None]:
    import gc
    import tracemalloc

    begin = time.time()
    tracemalloc.start(_DEPTH)
    try:
        yield
    finally:
        gc.collect()
        snapshot = tracemalloc.take_snapshot()
        tracemalloc.stop()
        result.append(heap_profile(snapshot, time.time() - begin, begin))


@contextmanager
def _goroutine(result: list[bytes]) -> Iterator[None]:
    """Show where the threads are at the end: they are what there is of goroutines."""
    try:
        yield
    finally:
        result.append(_counted("goroutine", [stack_of(frame) for frame in sys._current_frames().values()]))


@contextmanager
def _threadcreate(result: list[bytes]) -> Iterator[None]:
    """Show who has started threads."""
    stacks: list[Stack] = []
    start = threading.Thread.start

    def noting(self: threading.Thread) -> None:
        stacks.append(stack_of(sys._getframe(1)))
        start(self)

    threading.Thread.start = noting  # type: ignore[method-assign]
    try:
        yield
    finally:
        threading.Thread.start = start  # type: ignore[method-assign]
        result.append(_counted("threadcreate", stacks))


def _counted(name: str, stacks: list[Stack]) -> bytes:
    samples: dict[Stack, list[int]] = {}
    for stack in stacks:
        samples.setdefault(stack, [0])[0] += 1
    return profile(samples, ((name, "count"),), 0.0, time.time())


@contextmanager
def _trace(result: list[bytes]) -> Iterator[None]:
    """Note every call of a function, and how long it took."""
    events: list[dict[str, Any]] = []
    open_calls = threading.local()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        calls = open_calls.__dict__.setdefault("calls", [])
        if event == "call":
            calls.append((frame, time.monotonic_ns()))
        elif event == "return" and calls and calls[-1][0] is frame:
            _, begin = calls.pop()
            code = frame.f_code
            events.append({
                "ph": "X", "name": code.co_qualname, "ts": begin / 1000, "dur": (time.monotonic_ns() - begin) / 1000,
                "pid": 1, "tid": threading.get_ident(), "args": {"file": f"{code.co_filename}:{code.co_firstlineno}"},
            })  # fmt: skip

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        result.append(json.dumps({"traceEvents": events}).encode())


_PROFILES: dict[str, Callable[[list[bytes]], Any]] = {
    "cpu": _cpu, "heap": _heap, "goroutine": _goroutine, "threadcreate": _threadcreate, "block": _block, "trace": _trace,
}  # fmt: skip
