"""What filesystems have and folders use."""

from __future__ import annotations

import itertools
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pybernetes.lib.files.opening import folder
from pybernetes.lib.files.trees import walk
from pybernetes.lib.kernel import mountinfo

_TRIES = 3
_MOST_ENTRIES = 10_000_000  # somebody may add to a folder as fast as it is gone through


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
    most = (0, 0)
    for _ in range(_TRIES):
        size, count, whole = _measure(path)
        if whole:
            return size, count
        most = max(most, (size, count))
    return most


def _measure(path: Path | str) -> tuple[int, int, bool]:
    """Return bytes, inodes, and whether that is everything: folders may be moved while they are gone through."""
    size = count = 0
    several: set[int] = set()
    try:
        top = os.lstat(path)
        size, count = top.st_blocks * 512, 1
        with folder(path, os.O_PATH | os.O_NOFOLLOW) as descriptor:
            for _, _, status in itertools.islice(walk(descriptor), _MOST_ENTRIES):
                if status.st_dev != top.st_dev:
                    continue  # another filesystem is mounted here
                if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
                    if status.st_ino in several:
                        continue
                    several.add(status.st_ino)
                size += status.st_blocks * 512
                count += 1
    except (FileNotFoundError, NotADirectoryError):
        return size, count, True
    except OSError:
        return size, count, False
    return size, count, True


def device_name(number: int) -> str:
    """Return the name of a device as mounts call it."""
    return device_names().get(f"{os.major(number)}:{os.minor(number)}", "")


def device_names() -> dict[str, str]:
    """Return what mounts call the devices, by ``major:minor``."""
    names: dict[str, str] = {}
    try:
        for mount in mountinfo.mounts():
            names.setdefault(mount.device, mount.source)
    except OSError:
        pass
    return names
