"""fsGroup: files of a volume given to a group."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pybernetes.lib.files.trees import walk


def give_to_group(root: Path, group: int, policy: str, read_only: bool) -> None:
    """Give everything below a folder to a group, unless the policy is satisfied with its root."""
    top = os.open(root, os.O_PATH)
    try:
        status = os.fstat(top)
        if policy == "OnRootMismatch":
            wanted = 0o440 if read_only else 0o660
            if status.st_gid == group and status.st_mode & 0o2000 and status.st_mode & wanted == wanted:
                return
        if stat.S_ISDIR(status.st_mode):
            _give_below(top, group, read_only)
        _own(top, group, read_only)  # last: it tells that all of it was done
    finally:
        os.close(top)


def _give_below(top: int, group: int, read_only: bool) -> None:
    for entry in walk(top):
        if stat.S_ISLNK(entry.status.st_mode) or _is_given(entry.status, group, read_only):
            continue
        try:
            descriptor = os.open(entry.name, os.O_PATH | os.O_NOFOLLOW, dir_fd=entry.folder)
        except FileNotFoundError:
            continue
        try:
            _own(descriptor, group, read_only)
        finally:
            os.close(descriptor)


def _mode(mode: int, read_only: bool) -> int:
    wanted = stat.S_IMODE(mode) | (0o440 if read_only else 0o660)
    return wanted | 0o2110 if stat.S_ISDIR(mode) else wanted


def _is_given(status: os.stat_result, group: int, read_only: bool) -> bool:
    mode = status.st_mode
    return status.st_gid == group and stat.S_IMODE(mode) == _mode(mode, read_only)


def _own(descriptor: int, group: int, read_only: bool) -> None:
    if stat.S_ISLNK(os.fstat(descriptor).st_mode):
        return
    # The name of what was opened: somebody may have put something else in its place.
    name = f"/proc/self/fd/{descriptor}"
    os.chown(name, -1, group)
    os.chmod(name, _mode(os.fstat(descriptor).st_mode, read_only))
