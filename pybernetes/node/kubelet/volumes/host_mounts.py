"""Mounts on this machine."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from pybernetes.lib.files.opening import folder, open_below
from pybernetes.lib.kernel import mountinfo

_LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 4, 8, 32, 4096, 16384
MS_PRIVATE, MS_SLAVE, MS_SHARED = 1 << 18, 1 << 19, 1 << 20
_MNT_DETACH, _UMOUNT_NOFOLLOW = 2, 8


def mount(source: str, target: str | Path, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount a filesystem; raise OSError if the kernel refuses."""
    done = _LIBC.mount(os.fsencode(source), os.fsencode(target), kind.encode(), flags, options.encode())
    if done:
        code = ctypes.get_errno()
        raise OSError(code, f"mounting {kind or source} on {target}: {os.strerror(code)}")


def unmount(target: str | Path, flags: int = _UMOUNT_NOFOLLOW) -> None:
    """Unmount a filesystem, at the latest when nobody uses it any more."""
    _umount(target, _MNT_DETACH | flags)


def _umount(target: str | Path, flags: int) -> None:
    if _LIBC.umount2(os.fsencode(target), flags):
        code = ctypes.get_errno()
        if code not in (22, 2):  # not mounted, not there
            raise OSError(code, f"unmounting {target}: {os.strerror(code)}")


def unmount_below(place: Path, flags: int = _MNT_DETACH) -> None:
    """Unmount everything below a folder, the deepest first."""
    points = mounts_below(place)
    if not points:
        return
    with folder(place, os.O_PATH) as top:
        # What is mounted below a mount that is shared with the host would be unmounted there as well.
        for point in points:
            _by_descriptor(top, place, point, _make_private)
        for point in points:
            _by_descriptor(top, place, point, lambda name: _umount(name, flags))


def _make_private(name: str) -> None:
    with contextlib.suppress(OSError):  # no mount: something else was mounted above it
        mount("", name, "", MS_PRIVATE)


def _by_descriptor(top: int, place: Path, point: Path, do: Callable[[str], None]) -> None:
    """Run an operation on a mount under a name that nobody can redirect meanwhile."""
    try:
        descriptor = open_below(top, os.path.relpath(point, place), os.O_PATH)
    except OSError:
        return  # below another mount, or gone
    try:
        do(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def mounts_below(place: Path) -> list[Path]:
    """Return the mount points below a folder, the deepest first."""
    points = map(Path, mountinfo.points_below(str(place)))
    return sorted(points, key=lambda path: len(path.parts), reverse=True)


def has_own_filesystem(place: Path) -> bool:
    """Return whether another filesystem than that of its folder is mounted at a place, such as one in memory."""
    return os.lstat(place).st_dev != os.lstat(place.parent).st_dev
