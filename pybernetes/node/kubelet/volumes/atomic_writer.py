"""Files that change all at once: readers see the old ones or the new ones, never a mixture.

The files live in a folder with a name of its own, ``..data`` is a link to it, and what containers see are links through
``..data``. Replacing that one link replaces everything.

Containers cannot write here. Should one have been able to, nothing that it left is followed, waited for or believed: what
is in the way of a link of ours is removed, and only folders with names that we give are.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Mapping
from pathlib import Path

from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import make_folders, open_below
from pybernetes.lib.files.regular import create, open_regular
from pybernetes.lib.files.trees import remove, walk
from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile

_DATA = "..data"
_NEXT = "..data_tmp"
_OWN = re.compile(r"\.\.\d{4}(_\d\d){5}\.\w+")  # names of folders with files
_READ_FOLDER = os.O_RDONLY | os.O_DIRECTORY


def write(folder: Path, files: Mapping[str, VolumeFile], group: int | None = None) -> bool:
    """Make a folder have these files (by relative path); return False if it has them already."""
    with opening.folder(folder) as volume:
        current = _current(volume)
        names = {path.split("/")[0] for path in files}
        if current is not None and _same(volume, current, files, group):
            _link(volume, names)
            return False
        fresh = time.strftime("..%Y_%m_%d_%H_%M_%S.", time.gmtime()) + secrets.token_hex(4)
        try:
            _write_files(volume, fresh, files, group)
            _replace(volume, _DATA, fresh)
        except OSError:  # such as a full disk: what is there stays, and no try leaves anything
            remove(volume, fresh)
            raise
        _link(volume, names)
        if current is not None:
            remove(volume, current)
        return True


def _target(volume: int, name: str) -> str:
    """Return where a link leads; empty if there is none."""
    try:
        return os.readlink(name, dir_fd=volume)
    except OSError:
        return ""


def _current(volume: int) -> str | None:
    """Return the name of the folder that the files are in now."""
    target = _target(volume, _DATA)
    return target if _OWN.fullmatch(target) else None


def _replace(volume: int, name: str, target: str) -> None:
    """Make a name a link to a target, at once if it is one already."""
    remove(volume, _NEXT)
    os.symlink(target, _NEXT, dir_fd=volume)
    try:
        os.rename(_NEXT, name, src_dir_fd=volume, dst_dir_fd=volume)
    except IsADirectoryError:
        remove(volume, name)
        os.rename(_NEXT, name, src_dir_fd=volume, dst_dir_fd=volume)


def _link(volume: int, wanted: set[str]) -> None:
    for name in wanted:
        if _target(volume, name) != f"{_DATA}/{name}":
            _replace(volume, name, f"{_DATA}/{name}")
    for name in os.listdir(volume):
        if name not in wanted and _target(volume, name) == f"{_DATA}/{name}":
            os.unlink(name, dir_fd=volume)


def _mode(item: VolumeFile, group: int | None) -> int:
    return item.mode if group is None else item.mode | 0o440


def _same(volume: int, current: str, files: Mapping[str, VolumeFile], group: int | None) -> bool:
    try:
        data = open_below(volume, current, _READ_FOLDER)
    except OSError:
        return False
    try:
        present = sum(not stat.S_ISDIR(entry.status.st_mode) for entry in walk(data))
        return present == len(files) and all(
            _has(data, path, item.data, _mode(item, group)) for path, item in files.items()
        )
    except OSError:
        return False
    finally:
        os.close(data)


def _has(data: int, path: str, content: bytes, mode: int) -> bool:
    with open_regular(data, path) as file:
        status = os.fstat(file.fileno())
        return (
            stat.S_IMODE(status.st_mode) == mode
            and status.st_size == len(content)
            and file.read(len(content) + 1) == content
        )


def _write_files(volume: int, name: str, files: Mapping[str, VolumeFile], group: int | None) -> None:
    os.mkdir(name, 0o700, dir_fd=volume)
    data = open_below(volume, name, _READ_FOLDER)
    try:
        if group is not None:
            os.fchown(data, -1, group)
        os.fchmod(data, 0o755 if group is None else 0o2775)
        for path, item in files.items():
            parent, _, base = path.rpartition("/")
            place = make_folders(data, parent, 0o755)
            try:
                owner = (-1 if item.uid is None else item.uid, -1 if group is None else group)
                create(place, base, item.data, _mode(item, group), *owner)
            finally:
                os.close(place)
    finally:
        os.close(data)
