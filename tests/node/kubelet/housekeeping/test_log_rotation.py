"""Which rotated logs are removed, and that nothing else is touched."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.lib.files.opening import folder
from pybernetes.node.kubelet.housekeeping import log_rotation
from pybernetes.node.kubelet.housekeeping.log_rotation import LogRotation


def test_logs_that_go() -> None:
    files = ["0.log.20260101-000000.gz", "0.log.20260102-000000.gz", "0.log.20260103-000000"]
    assert log_rotation.excess(files, 5) == [] and log_rotation.excess(files, 4) == files[:1]
    assert log_rotation.excess(files, 2) == files and log_rotation.excess([], 1) == []
    left = ["a.tmp", "b", "b.gz", "c"]
    assert log_rotation.leftovers(left) == ["a.tmp", "b"]


def test_a_log_is_compressed(tmp_path: Path) -> None:
    (tmp_path / "0.log.1").write_text("text")
    (tmp_path / "0.log.1").chmod(0o640)
    (tmp_path / "outside").write_text("outside")
    (tmp_path / "link").symlink_to("outside")
    os.mkfifo(tmp_path / "pipe")
    with folder(tmp_path) as place:
        log_rotation.pack(place, "0.log.1")
        for name in ("link", "pipe"):
            with pytest.raises(OSError):
                log_rotation.pack(place, name)
        (tmp_path / "0.log.2").touch()
        (tmp_path / "0.log.2.tmp").symlink_to("outside")
        with pytest.raises(FileExistsError):
            log_rotation.pack(place, "0.log.2")
    packed = tmp_path / "0.log.1.gz"
    assert gzip.decompress(packed.read_bytes()) == b"text" and packed.stat().st_mode & 0o777 == 0o640
    assert not (tmp_path / "0.log.1").exists() and (tmp_path / "outside").read_text() == "outside"


async def test_a_folder_that_is_a_link_is_not_rotated(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("0.log", "0.log.20260101-000000", "0.log.tmp"):
        (outside / name).write_text("kept")
    (tmp_path / "logs/n_p_u").mkdir(parents=True)
    (tmp_path / "logs/n_p_u/c").symlink_to(outside)
    run: Any = SimpleNamespace(id="r", log_path=str(tmp_path / "logs/n_p_u/c/0.log"))
    cri: Any = None  # is not asked
    rotation = LogRotation(cri, ManualClock(), lambda: [run], size=1, files=2, seconds=1)
    await rotation.rotate_long_logs()
    assert sorted(path.name for path in outside.iterdir()) == ["0.log", "0.log.20260101-000000", "0.log.tmp"]
