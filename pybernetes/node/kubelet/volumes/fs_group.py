"""fsGroup: files of a volume given to a group."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pybernetes.lib.files.trees import walk

_GROUP = 0o660


def give_to_group(root: Path, group: int, policy: str) -> None:
    """Give everything below a folder to a group, unless the policy is satisfied with its root."""
    top = os.open(root, os.O_PATH)
    try:
        status = os.fstat(top)
        if policy == "OnRootMismatch":
            if status.st_gid == group and status.st_mode & 0o2000 and status.st_mode & _GROUP == _GROUP:
                return
        if stat.S_ISDIR(status.st_mode):
            _give_below(top, group)
        _own(top, group)  # last: it tells that all of it was done
    finally:
        os.close(top)


def _give_below(top: int, group: int) -> None:
    for entry in walk(top):
        if stat.S_ISLNK(entry.status.st_mode) or _is_given(entry.status, group):
            continue
        try:
            descriptor = os.open(entry.name, os.O_PATH | os.O_NOFOLLOW, dir_fd=entry.folder)
        except FileNotFoundError:
            continue
        try:
            _own(descriptor, group)
        finally:
            os.close(descriptor)


def _mode(mode: int) -> int:
    wanted = stat.S_IMODE(mode) | _GROUP
    return wanted | 0o2110 if stat.S_ISDIR(mode) else wanted


def _is_given(status: os.stat_result, group: int) -> bool:
    mode = status.st_mode
    return status.st_gid == group and stat.S_IMODE(mode) == _mode(mode)


def _own(descriptor: int, group: int) -> None:
    if stat.S_ISLNK(os.fstat(descriptor).st_mode):
        return
    # The name of what was opened: somebody may have put something else in its place.
    name = f"/proc/self/fd/{descriptor}"
    os.chown(name, -1, group)
    os.chmod(name, _mode(os.fstat(descriptor).st_mode))
