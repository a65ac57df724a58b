"""fsGroup: files of a volume given to a group."""

from __future__ import annotations

import os
from pathlib import Path


def give_to_group(root: Path, group: int, policy: str, read_only: bool) -> None:
    """Give everything below a folder to a group, unless the policy is satisfied with its root."""
    if policy == "OnRootMismatch":
        status = root.stat()
        wanted = 0o440 if read_only else 0o660
        if status.st_gid == group and status.st_mode & 0o2000 and status.st_mode & wanted == wanted:
            return
    for path, names, files in os.walk(root, topdown=False):
        for name in files:
            _own(os.path.join(path, name), group, read_only, folder=False)
        for name in names:
            _own(os.path.join(path, name), group, read_only, folder=True)
    _own(str(root), group, read_only, folder=True)


def _own(path: str, group: int, read_only: bool, *, folder: bool) -> None:
    if os.path.islink(path):
        return
    os.chown(path, -1, group)
    mode = os.stat(path).st_mode & 0o7777
    mode |= 0o440 if read_only else 0o660
    if folder:
        mode |= 0o2110
    os.chmod(path, mode)
