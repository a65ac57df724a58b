"""A disk that forgets, fails or dawdles: a library between a process and its files, and what a power cut leaves of a trace."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import require_program

_HEAD = struct.Struct("=ciqq")
SECTOR = 512


def build(folder: Path) -> Path:
    """Compile the library."""
    library = folder / "disk.so"
    source = Path(__file__).with_name("disk.c")
    command = [
        require_program("cc"),
        "-shared",
        "-fPIC",
        "-O1",
        "-o",
        str(library),
        str(source),
        "-ldl",
        "-pthread",
    ]
    subprocess.run(command, check=True)
    return library


def environment(
    library: Path, root: Path, *, trace: Path | None = None, fault: Path | None = None
) -> dict[str, str]:
    """Return the environment of a process whose files below a folder are on such a disk."""
    result = {**os.environ, "LD_PRELOAD": str(library), "DISK_ROOT": str(root)}
    if trace is not None:
        result["DISK_TRACE"] = str(trace)
    if fault is not None:
        result["DISK_FAULT"] = str(fault)
    return result


@dataclass(frozen=True, slots=True)
class Operation:
    """What was done to a file: w(rite), t(runcate), s(ync), c(reate) or u(nlink)."""

    what: str
    path: Path
    offset: int
    data: bytes


def read_trace(trace: Path) -> list[Operation]:
    """Return the operations of a trace; the last one may be cut off."""
    content = trace.read_bytes()
    operations, position = [], 0
    while position + _HEAD.size <= len(content):
        what, path_length, offset, length = _HEAD.unpack_from(content, position)
        position += _HEAD.size
        end = position + path_length + length
        if end > len(content):
            break
        path = Path(content[position : position + path_length].decode())
        operations.append(Operation(what.decode(), path, offset, content[position + path_length : end]))
        position = end
    return operations


@dataclass
class File:
    """A file: what is on the disk for sure, and what was done since and may be there or not."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Operation] = field(default_factory=list)
    name_is_durable: bool = False

    def sync(self) -> None:
        """Make everything durable."""
        for operation in self.pending:
            apply(self.durable, operation)
        self.pending = []

    def after_power_cut(self, chance: random.Random) -> bytearray:
        """Return what is left: of what was not synced each write is there, or not, or some of its sectors."""
        content = bytearray(self.durable)
        keeps = chance.random()
        for operation in self.pending:
            if operation.what == "t":
                if chance.random() < keeps:
                    apply(content, operation)
                continue
            for start in range(0, len(operation.data), SECTOR):
                if chance.random() < keeps:
                    piece = operation.data[start : start + SECTOR]
                    apply(content, Operation("w", operation.path, operation.offset + start, piece))
        return content


def apply(content: bytearray, operation: Operation) -> None:
    """Do to a content what was done to a file."""
    if operation.what == "t":
        del content[operation.offset :]
        content.extend(bytes(operation.offset - len(content)))
        return
    content.extend(bytes(max(0, operation.offset - len(content))))
    content[operation.offset : operation.offset + len(operation.data)] = operation.data


def replay(operations: list[Operation], stops: set[int]) -> Iterator[tuple[int, dict[Path, File]]]:
    """Yield the files as they are after so many operations, at each of the stops."""
    files: dict[Path, File] = {}
    for number, operation in enumerate(operations):
        if number in stops:
            yield number, files
        path = operation.path
        if operation.what == "u":
            files.pop(path, None)
        elif operation.what == "s":
            if path in files:
                files[path].sync()
            for name, file in files.items():  # the sync of a folder makes the names in it durable
                if name.parent == path:
                    file.name_is_durable = True
        else:
            file = files.setdefault(path, File())
            if operation.what != "c":
                file.pending.append(operation)
