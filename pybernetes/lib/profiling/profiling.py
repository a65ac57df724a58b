"""/debug/pprof/: where the processor's time and the memory go, and what waits for what.

The interpreter is looked at from another thread a hundred times a second while somebody asks, and costs nothing otherwise.
"""

from __future__ import annotations

import asyncio
import io
import sys
import threading
import time
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from types import FrameType
from urllib.parse import parse_qs

from pybernetes.lib.profiling.pprof_format import Frame, Stack, profile

PREFIX = "/debug/pprof"
_INTERVAL = 0.01
# Less than a request may take.
_LONGEST = 50.0
_DEPTH = 64
_BINARY, _TEXT = b"application/octet-stream", b"text/plain; charset=utf-8"
Page = tuple[bytes, bytes]  # the content type and the body
Query = Mapping[str, list[str]]


class ProfilingError(Exception):
    """A profile cannot be made; ``status`` is the HTTP code that says so."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Profiling:
    """The pages. One profile of a sort is made at a time."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._pages: dict[str, Callable[[Query], Awaitable[Page]]] = {
            "": self._index, "profile": self._processor, "heap": self._heap, "goroutine": self._tasks,
            "threadcreate": self._threads, "cmdline": self._command_line,
        }  # fmt: skip

    def paths(self) -> list[str]:
        """Return the paths for the index of the server."""
        return [f"{PREFIX}/{name}" for name in self._pages if name] + [PREFIX]

    async def respond(self, path: str, query: str) -> Page | None:
        """Return a page, or None if there is none at a path; ProfilingError for what cannot be made."""
        page = self._pages.get(path.removeprefix(PREFIX).strip("/"))
        if page is None:
            return None
        if path in self._busy:
            raise ProfilingError(500, "Could not enable CPU profiling: cpu profiling already in use")
        self._busy.add(path)
        try:
            return await page(parse_qs(query))
        finally:
            self._busy.discard(path)

    async def _index(self, query: Query) -> Page:
        lines = [f"{name}\n" for name in self._pages if name]
        return _TEXT, ("Profiles below this path:\n" + "".join(lines)).encode()

    async def _processor(self, query: Query) -> Page:
        seconds, begin = _seconds(query, 30.0), time.time()
        samples = await asyncio.to_thread(_sample, seconds)
        nanoseconds = int(_INTERVAL * 1e9)
        values = {stack: (count, count * nanoseconds) for stack, count in samples.items()}
        types = (("samples", "count"), ("cpu", "nanoseconds"))
        return _BINARY, await asyncio.to_thread(profile, values, types, seconds, begin)

    async def _heap(self, query: Query) -> Page:
        """Show what was allocated in some seconds and is still there: before that nothing was noted."""
        seconds, begin = _seconds(query, 10.0), time.time()
        was_on = tracemalloc.is_tracing()
        if not was_on:
            tracemalloc.start(8)
        try:
            await asyncio.sleep(0 if was_on and "seconds" not in query else seconds)
            snapshot = tracemalloc.take_snapshot()
        finally:
            if not was_on:
                tracemalloc.stop()
        return _BINARY, await asyncio.to_thread(heap_profile, snapshot, seconds, begin)

    async def _tasks(self, query: Query) -> Page:
        """Show every task and where it waits."""
        tasks = asyncio.all_tasks()
        stacks: Counter[Stack] = Counter()
        text = io.StringIO()
        for task in tasks:
            if query.get("debug"):
                task.print_stack(limit=_DEPTH, file=text)
                text.write("\n")
            else:
                frames = task.get_stack(limit=_DEPTH)
                stacks[tuple(_frame(frame, frame.f_lineno) for frame in reversed(frames))] += 1
        if query.get("debug"):
            return _TEXT, f"tasks: {len(tasks)}\n\n{text.getvalue()}".encode()
        values = {stack: (count,) for stack, count in stacks.items() if stack}
        return _BINARY, profile(values, (("goroutine", "count"),), 0.0, time.time())

    async def _threads(self, query: Query) -> Page:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        parts = [
            f"{names.get(ident, ident)}\n{''.join(traceback.format_stack(frame, _DEPTH))}\n"
            for ident, frame in sys._current_frames().items()
        ]
        return _TEXT, "".join(parts).encode()

    async def _command_line(self, query: Query) -> Page:
        return _TEXT, "\0".join(sys.argv).encode()


def _seconds(query: Query, default: float) -> float:
    try:
        seconds = float(query.get("seconds", [str(default)])[0])
    except ValueError:
        raise ProfilingError(400, "seconds is no number") from None
    if not 0 < seconds <= _LONGEST:
        raise ProfilingError(400, f"seconds must be more than 0 and at most {_LONGEST:g}")
    return seconds


def _sample(seconds: float) -> Counter[Stack]:
    """Look at the other threads again and again; one that waits for events is not at work."""
    samples: Counter[Stack] = Counter()
    own, end = threading.get_ident(), time.monotonic() + seconds
    while time.monotonic() < end:
        for ident, frame in sys._current_frames().items():
            stack = stack_of(frame)
            if ident != own and stack and not _waits(stack[0]):
                samples[stack] += 1
        time.sleep(_INTERVAL)
    return samples


def _waits(innermost: Frame) -> bool:
    return innermost.function in ("select", "wait", "_worker", "run_forever", "run_until_complete", "run")


def stack_of(frame: FrameType | None) -> Stack:
    """Return where a frame is, and who called it."""
    frames: list[Frame] = []
    while frame is not None and len(frames) < _DEPTH:
        frames.append(_frame(frame, frame.f_lineno))
        frame = frame.f_back
    return tuple(frames)


def _frame(frame: FrameType, line: int) -> Frame:
    code = frame.f_code
    return Frame(code.co_qualname, code.co_filename, line)


def heap_profile(snapshot: tracemalloc.Snapshot, seconds: float, moment: float) -> bytes:
    """Return the profile of what is there, by where it was allocated."""
    values: dict[Stack, tuple[int, int]] = {}
    for statistic in snapshot.statistics("traceback"):
        frames = [
            Frame(place.filename.rpartition("/")[2], place.filename, place.lineno)
            for place in statistic.traceback
        ]
        values[tuple(reversed(frames))] = (statistic.count, statistic.size)
    types = (("inuse_objects", "count"), ("inuse_space", "bytes"))
    return profile(values, types, seconds, moment)
