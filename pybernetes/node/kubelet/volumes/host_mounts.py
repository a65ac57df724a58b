"""Mounts on this machine."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 8, 32, 4096, 16384
MNT_DETACH = 2


def mount(source: str, target: Path, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a filesystem; raise OSError if the kernel refuses."""
    done = _LIBC.mount(source.encode(), bytes(target), kind.encode(), flags, options.encode())
    if done:
        code = ctypes.get_errno()
        raise OSError(code, f"mounting {kind} on {target}: {os.strerror(code)}")


def unmount(target: Path) -> None:
    """Unmount a filesystem, at the latest when nobody uses it any more."""
    if _LIBC.umount2(bytes(target), MNT_DETACH):
        code = ctypes.get_errno()
        if code not in (22, 2):  # not mounted, not there
            raise OSError(code, f"unmounting {target}: {os.strerror(code)}")


def mounts_below(folder: Path) -> list[Path]:
    """Return the mount points below a folder, the deepest first."""
    prefix = str(folder) + "/"
    points = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4].encode().decode("unicode_escape")
        if point.startswith(prefix):
            points.append(Path(point))
    return sorted(points, key=lambda path: len(path.parts), reverse=True)
