"""Whose removal of rules the kernel reports."""

from __future__ import annotations

import struct

from pybernetes.lib.rule_monitor import Reader


def message(kind: int, body: bytes) -> bytes:
    length = 16 + len(body)
    return struct.pack("=IHHII", length, kind, 0, 0, 0) + body + b"\0" * (-length % 4)


def test_who_removed_rules() -> None:
    deleted, generation = 10 << 8 | 8, 10 << 8 | 15
    ours, others = (
        b"\2\0\0\0" + struct.pack("=HH", 4 + len(name), 2) + name for name in (b"KUBE-SVC-A\0", b"CNI-X\0")
    )
    generated_by = (
        b"\0\0\0\0"
        + struct.pack("=HH", 8, 1)
        + b"\0\0\0\7"
        + struct.pack("=HH", 8, 2)
        + (4242).to_bytes(4, "big")
    )
    assert list(Reader((b"KUBE-",)).read(message(deleted, ours) + message(generation, generated_by))) == [
        4242
    ]
    assert list(Reader((b"KUBE-",)).read(message(deleted, others) + message(generation, generated_by))) == []
    reader = Reader((b"KUBE-",))
    assert list(reader.read(message(deleted, ours))) == []
    assert list(reader.read(message(generation, generated_by) * 2)) == [4242]
    assert list(reader.read(b"\0" * 20)) == []
