"""The disk of a node that is slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pybernetes.tools.local.nodes import slow_disk
from pybernetes.tools.local.nodes.machine import Machine


def test_a_folder_that_is_on_no_disk() -> None:
    with pytest.raises(slow_disk.NoDisk, match="is on no disk"):
        slow_disk.device(Path("/proc"))


def test_limits_are_written_to_every_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of version 1 hold for a group alone, those of version 2 for all below it."""
    monkeypatch.setattr(slow_disk, "device", lambda folder: "8:0")
    monkeypatch.setattr(slow_disk, "_GROUPS", tmp_path)
    machine = Machine("n", tmp_path, tmp_path, group="pybernetes/c/n")
    with pytest.raises(slow_disk.NoDisk, match="no control groups"):
        slow_disk.limit(machine, 5)
    pod = tmp_path / "blkio/pybernetes/c/n/kubepods/pod1"
    pod.mkdir(parents=True)
    slow_disk.limit(machine, 5)
    assert (pod / "blkio.throttle.write_iops_device").read_text() == "8:0 5"
    (tmp_path / "cgroup.controllers").touch()
    group = tmp_path / "pybernetes/c/n"
    with pytest.raises(slow_disk.NoDisk, match="no control groups"):
        slow_disk.limit(machine, 5)
    (group / "io.max").touch()
    slow_disk.limit(machine, 5)
    assert (group / "io.max").read_text() == "8:0 riops=5 wiops=5"
    slow_disk.limit(machine, 0)
    assert (group / "io.max").read_text() == "8:0 riops=max wiops=max"


def test_a_partition_stands_for_its_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = tmp_path.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    disk = tmp_path / "sda"
    (disk / "sda1").mkdir(parents=True)
    (disk / "dev").write_text("8:0\n")
    (disk / "sda1" / "partition").write_text("1\n")
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / name).symlink_to(disk / "sda1")
    monkeypatch.setattr(slow_disk, "_NUMBERS", tmp_path / "numbers")
    assert slow_disk.device(tmp_path) == "8:0"
