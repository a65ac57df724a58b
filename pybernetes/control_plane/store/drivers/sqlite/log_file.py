"""The write-ahead log beside the file: whether SQLite has taken in all of it.

SQLite reads the log up to the first frame whose checksum is wrong and takes the rest for what an interrupted write left
behind. That is right for the last transaction, which nobody was promised, but bits that changed in the middle would
silently undo everything after them. A transaction begins only once the one before is on the disk: so a commit beyond the
point where SQLite stopped, with more frames of the same log after it, means that something was lost.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

_HEADER = struct.Struct(">IIIIIIII")  # magic, version, page size, sequence, two salts, two sums
_FRAME = struct.Struct(">IIII8x")  # page, size of the file after a commit, two salts, two sums
PAGE_SIZE = 4096
_TAKEN = 16  # where the index of the log has the number of the last frame that counts
_MAGIC = (0x377F0682, 0x377F0683)  # the last bit tells the order of bytes in the sums


@dataclass(frozen=True, slots=True)
class LogFile:
    """What the log of a store held before SQLite looked at it: its frames up to the first of an older log."""

    is_whole: bool = True
    commits: tuple[bool, ...] = ()  # by frame: whether it ends a transaction

    def lost(self, taken: int) -> int:
        """Return how many transactions, known to have been complete, SQLite left out when it took so many frames."""
        if not self.is_whole:
            return sum(self.commits) or 1
        left = self.commits[taken:]
        # The last commit may be of a write that was under way; it counts once anything follows it.
        return sum(1 for position, commit in enumerate(left) if commit and position + 1 < len(left))


def lost_transactions(path: Path) -> int:
    """Return how many transactions of a store that nobody has open are lost in its log, without changing a file."""
    log = read_log(path.with_name(path.name + "-wal"))
    if log.is_whole and not log.commits:
        return 0
    # A connection for reading leaves the log as it is when it is closed; one for writing would tidy the traces away.
    with closing(
        sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)
    ) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        with open(path.with_name(path.name + "-shm"), "rb") as index:
            index.seek(_TAKEN)
            (taken,) = struct.unpack("=I", index.read(4))
    return log.lost(taken)


def read_log(path: Path) -> LogFile:
    """Read the frames of a log; there is none after a store was closed in good order."""
    try:
        content = memoryview(path.read_bytes())
    except FileNotFoundError:
        return LogFile()
    if len(content) <= _HEADER.size or not any(content[: _HEADER.size]):
        return LogFile()
    if not _header_is_good(content):
        return LogFile(is_whole=False)
    frames = list(_frames(content))
    salts = _HEADER.unpack_from(content)[4:6]
    ours = [
        position for position, (page, _, its_salts, _) in enumerate(frames) if page and its_salts == salts
    ]
    # A frame whose own head is damaged looks like one of an older log: that others of ours follow tells them apart.
    end = ours[-1] + 1 if ours else 0
    return LogFile(True, tuple(bool(size) and its_salts == salts for _, size, its_salts, _ in frames[:end]))


def apply_log(log: Path, target: Path) -> None:
    """Write the pages of a log into a copy of the file, also those after a damage: rows have checksums of their own."""
    content = memoryview(log.read_bytes())
    frames = list(_frames(content))
    salts = _HEADER.unpack_from(content)[4:6] if _header_is_good(content) else frames[0][2] if frames else ()
    with open(target, "r+b") as file:
        pages: list[tuple[int, memoryview]] = []
        for page, size, its_salts, data in frames:
            if its_salts != salts or not 0 < page < 1 << 20:
                continue
            pages.append((page, data))
            if size:  # ends a transaction
                for number, its_data in pages:
                    file.seek((number - 1) * PAGE_SIZE)
                    file.write(its_data)
                pages = []


def _header_is_good(content: memoryview) -> bool:
    if len(content) < _HEADER.size:
        return False
    magic, _, page_size, *_, first, second = _HEADER.unpack_from(content)
    order = "<" if magic == _MAGIC[0] else ">"
    return magic in _MAGIC and page_size == PAGE_SIZE and _checksum(content[:24], order) == (first, second)


def _frames(content: memoryview) -> Iterator[tuple[int, int, tuple[int, int], memoryview]]:
    """Yield of each frame its page, the size of the file if it ends a transaction, its salts, and the page's content."""
    for offset in range(_HEADER.size, len(content) - _FRAME.size - PAGE_SIZE + 1, _FRAME.size + PAGE_SIZE):
        page, size, *salts = _FRAME.unpack_from(content, offset)
        start = offset + _FRAME.size
        yield page, size, (salts[0], salts[1]), content[start : start + PAGE_SIZE]


def _checksum(content: memoryview, order: str) -> tuple[int, int]:
    """Return the two sums that SQLite keeps of a piece of its log."""
    first = second = 0
    for one, other in struct.iter_unpack(f"{order}II", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
