"""Files that change all at once: readers see the old ones or the new ones, never a mixture.

The files live in a folder with a name of its own, ``..data`` is a link to it, and what containers see are links through
``..data``. Replacing that one link replaces everything.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from pybernetes.node.kubelet.volumes.volume_kind import VolumeFile

_DATA = "..data"
_NEXT = "..data_tmp"


def write(folder: Path, files: Mapping[str, VolumeFile], group: int | None = None) -> bool:
    """Make a folder have these files (by relative path); return False if it has them already."""
    current = _current(folder)
    if current is not None and _same(current, files, group):
        return False
    stamp = time.strftime("..%Y_%m_%d_%H_%M_%S.", time.gmtime())
    fresh = Path(tempfile.mkdtemp(prefix=stamp, dir=folder))
    os.chmod(fresh, 0o755 if group is None else 0o2775)
    if group is not None:
        os.chown(fresh, -1, group)
    for path, item in files.items():
        _write_file(fresh, path, item, group)
    link = folder / _NEXT
    link.unlink(missing_ok=True)
    link.symlink_to(fresh.name)
    os.replace(link, folder / _DATA)
    _links(folder, {path.split("/")[0] for path in files})
    if current is not None:
        shutil.rmtree(current, ignore_errors=True)
    return True


def _current(folder: Path) -> Path | None:
    link = folder / _DATA
    return folder / os.readlink(link) if link.is_symlink() else None


def _mode(item: VolumeFile, group: int | None) -> int:
    return item.mode if group is None else item.mode | 0o440


def _same(current: Path, files: Mapping[str, VolumeFile], group: int | None) -> bool:
    present = {
        os.path.relpath(os.path.join(path, name), current)
        for path, _, names in os.walk(current)
        for name in names
    }
    if present != set(files):
        return False
    for path, item in files.items():
        file = current / path
        if file.stat().st_mode & 0o7777 != _mode(item, group) or file.read_bytes() != item.data:
            return False
    return True


def _write_file(folder: Path, path: str, item: VolumeFile, group: int | None) -> None:
    file = folder / path
    if file.parent != folder and not file.parent.exists():
        file.parent.mkdir(parents=True)
        for parent in (file.parent, *file.parent.parents):
            if parent == folder:
                break
            os.chmod(parent, 0o755)
    file.write_bytes(item.data)
    if item.uid is not None or group is not None:
        os.chown(file, -1 if item.uid is None else item.uid, -1 if group is None else group)
    os.chmod(file, _mode(item, group))


def _links(folder: Path, wanted: set[str]) -> None:
    for name in wanted:
        link = folder / name
        if not link.is_symlink():
            link.symlink_to(f"{_DATA}/{name}")
    for name in os.listdir(folder):
        if not name.startswith("..") and name not in wanted and (folder / name).is_symlink():
            (folder / name).unlink()
