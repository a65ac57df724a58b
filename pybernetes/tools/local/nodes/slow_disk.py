"""Makes the disk of a node of a local cluster slow, for its containers: a limit of its control group."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pybernetes.tools.local.nodes.machine import Machine

_GROUPS, _NUMBERS = Path("/sys/fs/cgroup"), Path("/sys/dev/block")


class NoDisk(OSError):
    """The disk of a machine cannot be slowed down; the text says why."""


def device(folder: Path) -> str:
    """Return the number of the whole disk that a folder is on."""
    number = folder.stat().st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    entry = _NUMBERS / name
    if not entry.exists():
        raise NoDisk(f"{folder} is on no disk that the kernel can slow down")
    if (entry / "partition").exists():
        return (entry.resolve().parent / "dev").read_text().strip()
    return name


def limit(machine: Machine, operations: int) -> None:
    """Let the machine's containers read and write at most so many times in a second; 0 is without a limit."""
    disk = device(machine.root)
    if (_GROUPS / "cgroup.controllers").exists():
        group = _unified(machine.group)
        text = str(operations or "max")
        (group / "io.max").write_text(f"{disk} riops={text} wiops={text}")
        return
    top = _GROUPS / "blkio" / machine.group
    if not top.is_dir():
        raise NoDisk("this kernel has no control groups for disks")
    # Those of version 1 do not hold for the groups below.
    for folder, _, _ in os.walk(top):
        for name in ("read", "write"):
            with contextlib.suppress(FileNotFoundError):  # its container has just ended
                Path(folder, f"blkio.throttle.{name}_iops_device").write_text(f"{disk} {operations}")


def _unified(name: str) -> Path:
    """Return a group in which disks are counted."""
    group = _GROUPS
    for part in Path(name).parts:
        with contextlib.suppress(OSError):  # it may be on already
            (group / "cgroup.subtree_control").write_text("+io")
        group /= part
        group.mkdir(exist_ok=True)
    if not (group / "io.max").exists():
        raise NoDisk("this kernel has no control groups for disks")
    return group
