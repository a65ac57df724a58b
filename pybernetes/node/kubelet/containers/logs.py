"""Logs of containers as runtimes write them: ``TIME STREAM FLAGS TEXT`` on each line; flag P is a part of a line, F its end."""

from __future__ import annotations

import asyncio
import glob
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = 65536
_MESSAGE_LINES = 80
_MESSAGE_BYTES = 2048


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Which part of a log to read. ``since`` is a time as the log writes it; empty for everything."""

    follow: bool = False
    timestamps: bool = False
    since: str = ""
    tail: int | None = None
    limit: int | None = None
    stream: str = "All"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log file, which may be only a part of a line that the container wrote."""

    time: bytes
    stream: bytes
    whole: bool
    text: bytes


def parse(line: bytes) -> LogLine | None:
    """Parse a line of a log file; return None if it is not one."""
    parts = line.split(b" ", 3)
    if len(parts) != 4:
        return None
    time, stream, flags, text = parts
    return LogLine(time, stream, flags.split(b":")[0] == b"F", text)


def tail_offset(path: Path, lines: int) -> int:
    """Return the offset at which the last ``lines`` lines begin; a line that was written in parts counts once."""
    if lines <= 0:
        return path.stat().st_size
    with path.open("rb") as file:
        position = file.seek(0, 2)
        held = b""
        wanted = lines + 1
        while position > 0:
            size = min(_BLOCK, position)
            position -= size
            file.seek(position)
            held = file.read(size) + held
            ends = [
                index
                for index, raw in _line_ends(held, complete=position == 0)
                if (line := parse(raw)) is None or line.whole
            ]
            if len(ends) >= wanted:
                return position + ends[-wanted]
    return 0


def _line_ends(data: bytes, *, complete: bool) -> Iterator[tuple[int, bytes]]:
    """Yield each line with the offset after it; the first is left out unless it is known to be complete."""
    start = 0 if complete else data.find(b"\n") + 1
    if complete:
        yield 0, b"- - F "  # the beginning of the file ends a line as well
    while (end := data.find(b"\n", start)) >= 0:
        yield end + 1, data[start:end]
        start = end + 1


def render(line: LogLine, options: LogOptions, *, fresh: bool) -> bytes:
    """Return what a reader gets of a line; the time appears only at the beginning of a whole line."""
    if options.stream not in ("", "All") and options.stream.lower().encode() != line.stream:
        return b""
    if options.since and line.time.decode() < options.since:
        return b""
    text = line.text + (b"\n" if line.whole else b"")
    return line.time + b" " + text if options.timestamps and fresh else text


async def read(path: Path, options: LogOptions, ended: asyncio.Event | None = None) -> AsyncIterator[bytes]:
    """Yield the log in pieces; with ``follow`` until ``ended`` is set and everything was read."""
    left = options.limit
    position = tail_offset(path, options.tail) if options.tail is not None else 0
    fresh, held = True, b""
    file = path.open("rb")
    try:
        inode = path.stat().st_ino
        file.seek(position)
        while True:
            over = ended is None or ended.is_set()
            block = file.read(_BLOCK)
            if block:
                pieces = (held + block).split(b"\n")
                held = pieces.pop()
                out = bytearray()
                for piece in pieces:
                    line = parse(piece)
                    if line is None:
                        continue
                    out += render(line, options, fresh=fresh)
                    fresh = line.whole
                if left is not None:
                    out = out[:left]
                    left -= len(out)
                if out:
                    yield bytes(out)
                if left == 0:
                    return
                continue
            if not options.follow:
                return
            rotated = _inode(path) not in (inode, None)
            if rotated:
                left_over = file.read(_BLOCK)  # written between the last read and the rotation
                if left_over:
                    file.seek(-len(left_over), os.SEEK_CUR)
                    continue
                file.close()
                file, held = path.open("rb"), b""
                inode = path.stat().st_ino
                continue
            if over:
                return
            # The log of a running container is polled only while somebody follows it.
            await _wait(ended, 0.1)
    finally:
        file.close()


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


async def _wait(event: asyncio.Event | None, seconds: float) -> None:
    if event is None:
        return
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


def remove(path: str) -> None:
    """Remove the log of a run together with its rotated files."""
    for file in (path, *glob.glob(f"{glob.escape(path)}.*")) if path else ():
        try:
            os.remove(file)
        except FileNotFoundError:
            pass


def link(folder: Path, pod: str, namespace: str, container: str, run: str, log: Path) -> None:
    """Link a log under the name that log collectors look for."""
    folder.mkdir(parents=True, exist_ok=True)
    # Names are cut as upstream cuts them: a file name has at most 255 bytes.
    name = f"{pod}_{namespace}_{container}"[: 255 - len(run) - 5]
    place = folder / f"{name}-{run}.log"
    place.unlink(missing_ok=True)
    place.symlink_to(log)


def drop_links(folder: Path) -> None:
    """Remove the links of logs that are gone."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_symlink() and entry.name.endswith(".log") and not os.path.exists(entry.path):
            os.unlink(entry.path)


def last_text(path: Path) -> str:
    """Return the end of a log, short enough for a termination message."""
    try:
        with path.open("rb") as file:
            file.seek(tail_offset(path, _MESSAGE_LINES))
            lines = [parse(raw) for raw in file.read().split(b"\n")]
    except OSError:
        return ""
    text = b"".join(line.text + (b"\n" if line.whole else b"") for line in lines if line is not None)
    return text[-_MESSAGE_BYTES:].decode(errors="replace")
