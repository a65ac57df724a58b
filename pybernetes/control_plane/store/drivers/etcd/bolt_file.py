"""Reads the files that etcd writes (bbolt databases), to say what a snapshot holds.

A file is an array of pages. Pages 0 and 1 are headers, of which the one with the later transaction
counts; from the root page a tree leads to buckets, each of which is a tree of its own.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError

MAGIC = 0xED0CDAED
BRANCH, LEAF = 0x01, 0x02
BUCKET = 0x01  # flag of an element
PAGE_HEADER = struct.Struct("<QHHI")  # id, flags, count of elements, extra pages
META = struct.Struct("<IIIIQQQQQ")  # magic, version, page size, flags, root, sequence, free list, pages, txid
LEAF_ELEMENT = struct.Struct("<IIII")  # flags, position from here, size of key, size of value
BRANCH_ELEMENT = struct.Struct("<IIQ")  # position from here, size of key, page
BUCKET_HEADER = struct.Struct("<QQ")  # root page (0: the tree follows in place), sequence
KEYS = b"key"  # the bucket of revisions
TRAILER = hashlib.sha256().digest_size  # etcd appends a checksum to a snapshot


def is_bolt(path: Path) -> bool:
    """Return whether a file looks like a database of etcd."""
    with path.open("rb") as file:
        head = file.read(PAGE_HEADER.size + 4)
    return len(head) == PAGE_HEADER.size + 4 and head.endswith(MAGIC.to_bytes(4, "little"))


def status(path: Path) -> SnapshotStatus:
    """Check a snapshot and sum it up as etcdctl does."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            if len(view) % 512 == TRAILER and hashlib.sha256(view[:-TRAILER]).digest() != view[-TRAILER:]:
                raise StoreError(f"{path} is damaged: its checksum is wrong")
            return summarize(Tree(view))
    except (struct.error, IndexError, ValueError, OverflowError, RecursionError, OSError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error


def summarize(tree: Tree) -> SnapshotStatus:
    """Walk over everything: checksum, last revision, number of entries."""
    checksum, revision, total = 0xFFFFFFFF, 0, 0
    for name, _, content in tree.page(tree.root):
        checksum = crc32c(name, checksum)
        for key, _, value in tree.bucket(content):
            checksum = crc32c(value, crc32c(key, checksum))
            total += 1
            if name == KEYS:
                revision = int.from_bytes(key[:8], "big")
    return SnapshotStatus(checksum ^ 0xFFFFFFFF, revision, total, tree.size)


class Tree:
    """The pages of one file."""

    def __init__(self, view: mmap.mmap | bytes) -> None:
        self._view = view
        self._seen: set[int] = set()
        metas = [meta for meta in (self._meta(0), self._second_meta()) if meta is not None]
        if not metas:
            raise ValueError("no valid header")
        _, _, self._page_size, _, self.root, _, _, pages, _ = max(metas, key=lambda meta: meta[8])
        self.size = pages * self._page_size

    def _meta(self, position: int) -> tuple[int, ...] | None:
        try:
            meta = META.unpack_from(self._view, position + PAGE_HEADER.size)
        except struct.error:
            return None
        return meta if meta[0] == MAGIC and meta[1] == 2 else None

    def _second_meta(self) -> tuple[int, ...] | None:
        first = self._meta(0)
        sizes = [first[2]] if first else [512 << shift for shift in range(8)]
        return next((meta for size in sizes if (meta := self._meta(size)) is not None), None)

    def page(self, number: int) -> Iterator[tuple[bytes, int, bytes]]:
        """Return key, flags and value of everything below a page, in key order. No page is in a tree twice."""
        if number in self._seen:
            raise ValueError(f"page {number} is used twice")
        self._seen.add(number)
        yield from self._elements(self._view, number * self._page_size)

    def bucket(self, content: bytes) -> Iterator[tuple[bytes, int, bytes]]:
        """Return everything in a bucket, whose header is `content`."""
        root, _ = BUCKET_HEADER.unpack_from(content)
        if root:
            yield from self.page(root)
        else:
            yield from self._elements(content, BUCKET_HEADER.size)

    def _elements(self, view: mmap.mmap | bytes, start: int) -> Iterator[tuple[bytes, int, bytes]]:
        _, flags, count, _ = PAGE_HEADER.unpack_from(view, start)
        position = start + PAGE_HEADER.size
        for _ in range(count):
            if flags & BRANCH:
                yield from self.page(BRANCH_ELEMENT.unpack_from(view, position)[2])
                position += BRANCH_ELEMENT.size
            elif flags & LEAF:
                kind, offset, key_size, value_size = LEAF_ELEMENT.unpack_from(view, position)
                key = position + offset
                value = key + key_size
                yield view[key:value], kind, view[value : value + value_size]
                position += LEAF_ELEMENT.size
            else:
                raise ValueError(f"page at {start} has unknown flags {flags:#x}")


def table() -> list[int]:
    """Return the table of the Castagnoli polynomial."""
    remainders = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        remainders.append(byte)
    return remainders


TABLE = table()


def crc32c(content: bytes, checksum: int) -> int:
    """Carry on a CRC-32C, which begins and ends with all bits inverted."""
    lookup = TABLE
    for byte in content:
        checksum = lookup[(checksum ^ byte) & 0xFF] ^ checksum >> 8
    return checksum
