"""What filesystems have and folders use."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Filesystem:
    """A filesystem as a whole."""

    capacity: int
    available: int
    used: int
    inodes: int
    inodes_free: int
    device: int = 0

    @property
    def inodes_used(self) -> int:
        """How many inodes are taken."""
        return max(0, self.inodes - self.inodes_free)


def filesystem(path: Path | str) -> Filesystem | None:
    """Return the filesystem that a path is on; None if there is no such path."""
    try:
        status = os.statvfs(path)
        device = os.stat(path).st_dev
    except OSError:
        return None
    capacity = status.f_blocks * status.f_frsize
    used = (status.f_blocks - status.f_bfree) * status.f_frsize
    return Filesystem(
        capacity, status.f_bavail * status.f_frsize, used, status.f_files, status.f_ffree, device
    )


def used(path: Path | str) -> tuple[int, int]:
    """Return the bytes and inodes that a folder takes on its own filesystem; files with several names count once."""
    try:
        top = os.lstat(path)
    except OSError:
        return 0, 0
    size, count = top.st_blocks * 512, 1
    several: set[int] = set()
    waiting = [os.fspath(path)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    if status.st_dev != top.st_dev:
                        continue  # another filesystem is mounted here
                    if status.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
                        if status.st_ino in several:
                            continue
                        several.add(status.st_ino)
                    size += status.st_blocks * 512
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue  # gone meanwhile
    return size, count


def device_name(number: int) -> str:
    """Return the name of a device as mounts call it."""
    return device_names().get(f"{os.major(number)}:{os.minor(number)}", "")


def device_names() -> dict[str, str]:
    """Return what mounts call the devices, by ``major:minor``."""
    names: dict[str, str] = {}
    try:
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return names
    for line in lines:
        words = line.split()
        source = words[words.index("-") + 2]
        names.setdefault(words[2], source)
    return names
