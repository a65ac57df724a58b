"""Snapshots of etcd (bbolt files): summed up, or refused; no loop among the pages."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from fuzz.engine.target import Target
from pybernetes.control_plane.store.drivers.etcd import bolt_file
from pybernetes.control_plane.store.protocol import StoreError

_FOLDER = tempfile.TemporaryDirectory(prefix="pyb-fuzz-")
_FILE = Path(_FOLDER.name, "snapshot")
_PAGE = 512


def run(data: bytes) -> None:
    """Sum the file up."""
    _FILE.write_bytes(data)
    bolt_file.is_bolt(_FILE)
    bolt_file.status(_FILE)


def _page(number: int, flags: int, elements: list[tuple[bytes, bytes]], kind: int = 0) -> bytes:
    head = bolt_file.PAGE_HEADER.pack(number, flags, len(elements), 0)
    table, content = b"", b""
    for index, (key, value) in enumerate(elements):
        offset = (len(elements) - index) * bolt_file.LEAF_ELEMENT.size + len(content)
        table += bolt_file.LEAF_ELEMENT.pack(kind, offset, len(key), len(value))
        content += key + value
    return (head + table + content).ljust(_PAGE, b"\0")


def _file() -> bytes:
    def meta(number: int) -> bytes:
        content = bolt_file.META.pack(bolt_file.MAGIC, 2, _PAGE, 0, 3, 0, 2, 5, number + 1)
        return (bolt_file.PAGE_HEADER.pack(number, 4, 0, 0) + content).ljust(_PAGE, b"\0")

    bucket = bolt_file.BUCKET_HEADER.pack(4, 0)
    revisions = [(struct.pack(">QcQ", number, b"_", 0), b"value" * 3) for number in range(1, 6)]
    root = _page(3, bolt_file.LEAF, [(b"key", bucket)], bolt_file.BUCKET)
    return meta(0) + meta(1) + _page(2, 16, []) + root + _page(4, bolt_file.LEAF, revisions)


TARGET = Target(
    run,
    (StoreError,),
    seeds=(_file(),),
    words=(
        b"\1\0",
        b"\2\0",
        b"\3\0\0\0\0\0\0\0",
        b"\4\0\0\0\0\0\0\0",
        b"\xff\xff",
        struct.pack("<I", bolt_file.MAGIC),
    ),
    per_byte=60e-6,
)
