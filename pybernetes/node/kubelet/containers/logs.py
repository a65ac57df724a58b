"""Logs of containers as runtimes write them: ``TIME STREAM FLAGS TEXT`` on each line; flag P is a part of a line, F its end."""

from __future__ import annotations

import asyncio
import io
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pybernetes.lib.files import trees
from pybernetes.lib.files.regular import foreign_folder, open_regular_path

messages = logging.getLogger(__name__)
_BLOCK = 65536
_MESSAGE_LINES = 80
_MESSAGE_BYTES = 2048
_MESSAGE_WINDOW = 1 << 17  # of a log: more than as many bytes take that were written one by one
_HEAD = 128  # bytes of a line in which its flags are
_FOREIGN = 3  # POD/CONTAINER/0.log: who can write to the folder of logs does not choose what is read


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


def open_log(path: str | Path) -> BinaryIO:
    """Open a log; raise OSError if it is not there, or no log but a link or a pipe."""
    return open_regular_path(path, _FOREIGN)


@contextmanager
def log_folder(path: str | Path) -> Iterator[int]:
    """Open the folder that a log is in."""
    with foreign_folder(os.path.dirname(path), _FOREIGN - 1) as folder:
        yield folder


def tail_offset(file: BinaryIO, lines: int) -> int:
    """Return the offset at which the last ``lines`` lines begin; a line that was written in parts counts once."""
    position = file.seek(0, 2)
    if lines <= 0:
        return position
    count, end, after = 0, 0, b""  # the end of the line whose beginning is looked for; what follows the block
    while position > 0:
        size = min(_BLOCK, position)
        position -= size
        file.seek(position)
        block = file.read(size)
        at = len(block)
        while (at := block.rfind(b"\n", 0, at)) >= 0:
            if end and _is_whole((block[at + 1 : at + 1 + _HEAD] + after)[:_HEAD]):
                count += 1
                if count > lines:
                    return end
            end = position + at + 1
        after = (block[:_HEAD] + after)[:_HEAD]
    return end if end and count == lines and _is_whole(after) else 0


def _is_whole(head: bytes) -> bool:
    line = parse(head.split(b"\n", 1)[0])
    return line is None or line.whole


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
    fresh, held = True, b""
    file = open_log(path)
    try:
        inode = os.fstat(file.fileno()).st_ino
        tail = options.tail
        file.seek(0 if tail is None else await asyncio.to_thread(tail_offset, file, tail))
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
                file, held = open_log(path), b""
                inode = os.fstat(file.fileno()).st_ino
                continue
            if over:
                return
            # The log of a running container is polled only while somebody follows it.
            await _wait(ended, 0.1)
    finally:
        file.close()


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
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
    if not path:
        return
    own = os.path.basename(path)
    try:
        with log_folder(path) as folder:
            for name in os.listdir(folder):
                if name == own or name.startswith(f"{own}."):
                    os.unlink(name, dir_fd=folder)
    except OSError:
        pass  # gone, or not what we made


def link(folder: Path, pod: str, namespace: str, container: str, run: str, log: Path) -> None:
    """Link a log under the name that log collectors look for."""
    # Names are cut as upstream cuts them: a file name has at most 255 bytes.
    name = f"{pod}_{namespace}_{container}"[: 255 - len(run) - 5] + f"-{run}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with foreign_folder(folder, 1) as links:
            trees.remove(links, name)
            os.symlink(log, name, dir_fd=links)
    except OSError as error:  # the container runs without it
        messages.warning("the log %s gets no name in %s: %s", log, folder, error)


def drop_links(folder: Path) -> None:
    """Remove the links of logs that are gone."""
    try:
        with foreign_folder(folder, 1) as links:
            for name in os.listdir(links):
                if name.endswith(".log") and _is_dangling(links, name):
                    os.unlink(name, dir_fd=links)
    except OSError:
        pass  # not there, or not what we made


def _is_dangling(folder: int, name: str) -> bool:
    try:
        return not os.path.lexists(os.readlink(name, dir_fd=folder))
    except OSError:
        return False  # no link


def last_text(path: Path) -> str:
    """Return the end of a log, short enough for a termination message."""
    try:
        with open_log(path) as file:
            start = max(0, file.seek(0, 2) - _MESSAGE_WINDOW)
            file.seek(start)
            data = file.read(_MESSAGE_WINDOW)
    except OSError:
        return ""
    if start:
        data = data.partition(b"\n")[2]  # the first line is not whole
    data = data[tail_offset(io.BytesIO(data), _MESSAGE_LINES) :]
    lines = [parse(raw) for raw in data.split(b"\n")]
    text = b"".join(line.text + (b"\n" if line.whole else b"") for line in lines if line is not None)
    return text[-_MESSAGE_BYTES:].decode(errors="replace")
