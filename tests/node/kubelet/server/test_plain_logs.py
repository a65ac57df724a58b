"""Plain files as logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.kubelet.server import plain_logs


@pytest.mark.parametrize(
    ("lines", "expected"), [(0, b""), (1, b"c\n"), (2, b"b\nc\n"), (3, b"a\nb\nc\n"), (9, b"a\nb\nc\n")]
)
@pytest.mark.parametrize("piece", [1, 2, 3, 100])
def test_the_last_lines(
    lines: int, expected: bytes, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_logs, "_PIECE", piece)
    file = tmp_path / "log"
    file.write_bytes(b"a\nb\nc\n")
    assert file.read_bytes()[plain_logs.tail_offset(file, lines) :] == expected
