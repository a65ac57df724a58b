"""Logs are rotated."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.local.rotated_log import RotatedLog


def test_logs_are_rotated(tmp_path: Path) -> None:
    log = RotatedLog(tmp_path / "a.log", limit=10, files=3)
    for line in (b"11111111", b"22222222", b"33333333", b"44444444"):
        log.write(line)
    log.close()
    names = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert names == {"a.log": "44444444", "a.log.1": "33333333", "a.log.2": "22222222"}
    again = RotatedLog(tmp_path / "a.log", limit=10, files=3)
    again.write(b"555")
    again.close()
    assert (tmp_path / "a.log").read_text() == "555"
