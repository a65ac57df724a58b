"""Opens what is below a folder, however others change the folder meanwhile: nothing outside of it is reached."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH, _IN_ROOT = 1, 2, 4, 8, 16  # openat2's RESOLVE_*
_OPENAT2 = 437  # the same number on every architecture that Python runs on
_MOST_LINKS = 40  # the kernel's limit
_MOST_FOLDERS = 256  # held open at a time where the kernel has no openat2
_LONGEST_PATH = 4096  # the kernel's limit, which those who go step by step would not notice
_TRIES = 1000  # the kernel asks for another try when something is renamed while it goes through a ".."


class Links(Enum):
    """What becomes of a link on the way."""

    REFUSED = _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS
    INSIDE = (
        _BENEATH | _NO_MAGICLINKS
    )  # followed as long as it stays below the folder; one with a "/" in front does not
    ROOTED = _IN_ROOT | _NO_MAGICLINKS  # followed as if the folder were the root


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


# The types of its arguments are told once: to wrap each of them in each call costs more than the call.
_SYSCALL = ctypes.CDLL(None, use_errno=True).syscall
_SYSCALL.argtypes = (
    ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_How), ctypes.c_size_t
)  # fmt: skip
_SYSCALL.restype = ctypes.c_long


@contextmanager
def folder(path: str | Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a folder by a name that only we and administrators can change."""
    descriptor = os.open(path, flags | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_below(
    folder: int,
    path: str,
    flags: int,
    links: Links = Links.REFUSED,
    *,
    mode: int = 0,
    same_mount: bool = False,
) -> int:
    """Open what is below a folder; return its descriptor.

    Raise OSError if it is not there or not below the folder. With ``same_mount`` mounts are not crossed. Only flags that
    refuse links can create.
    """
    if _kernel_opens():
        return _open_by_kernel(folder, path, flags, links, mode, same_mount)
    return open_by_steps(folder, path, flags, links, mode=mode, same_mount=same_mount)


@functools.cache
def _kernel_opens() -> bool:
    """Return whether the kernel has openat2: since 5.6, and if no filter forbids it."""
    try:
        os.close(_open_by_kernel(-100, ".", os.O_PATH, Links.REFUSED, 0, False))
    except OSError:
        return False
    return True


def _open_by_kernel(folder: int, path: str, flags: int, links: Links, mode: int, same_mount: bool) -> int:
    how = _How(flags | os.O_CLOEXEC, mode, links.value | (_NO_XDEV if same_mount else 0))
    name = os.fsencode(path or ".")
    if b"\0" in name:
        raise ValueError("embedded null byte")
    for _ in range(_TRIES):
        opened: int = _SYSCALL(_OPENAT2, folder, name, how, ctypes.sizeof(how))
        if opened >= 0:
            return opened
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code), path)


def open_by_steps(
    folder: int,
    path: str,
    flags: int,
    links: Links = Links.REFUSED,
    *,
    mode: int = 0,
    same_mount: bool = False,
) -> int:
    """Do what ``open_below`` does on kernels without openat2: one part of the path after the other."""

    def failed(code: int) -> OSError:
        return OSError(code, os.strerror(code), path)

    if path.startswith("/") and links is not Links.ROOTED:
        raise failed(errno.EXDEV)
    held = [os.dup(folder)]  # the folders on the way, so that ".." cannot lead elsewhere
    left = path.split("/")[::-1]
    followed = 0
    try:
        while left:
            part = left.pop()
            if part in ("", ".", ".."):
                if not stat.S_ISDIR(os.fstat(held[-1]).st_mode):
                    raise failed(errno.ENOTDIR)
                if part == ".." and len(held) > 1:
                    os.close(held.pop())
                elif part == ".." and links is not Links.ROOTED:
                    raise failed(errno.EXDEV)
                continue
            if flags & os.O_CREAT and not left:
                return os.open(part, flags | os.O_NOFOLLOW, mode, dir_fd=held[-1])
            held.append(os.open(part, os.O_PATH | os.O_NOFOLLOW, dir_fd=held[-1]))
            status = os.fstat(held[-1])
            if stat.S_ISLNK(status.st_mode):
                followed += 1
                if links is Links.REFUSED or followed > _MOST_LINKS:
                    raise failed(errno.ELOOP)
                target = os.readlink("", dir_fd=held[-1])
                os.close(held.pop())
                if target.startswith("/"):
                    if links is not Links.ROOTED:
                        raise failed(errno.EXDEV)
                    while len(held) > 1:
                        os.close(held.pop())
                left += target.split("/")[::-1]
            elif same_mount and _mount_id(held[-1]) != _mount_id(folder):
                raise failed(errno.EXDEV)
            elif len(held) > _MOST_FOLDERS:
                raise failed(errno.ENAMETOOLONG)
        return reopen(held[-1], flags)
    finally:
        for descriptor in held:
            os.close(descriptor)


def _mount_id(descriptor: int) -> str:
    """Return which mount a descriptor is on: a folder may be mounted elsewhere on its own filesystem."""
    with open(f"/proc/self/fdinfo/{descriptor}") as file:
        return next(line.split()[1] for line in file if line.startswith("mnt_id:"))


def reopen(descriptor: int, flags: int) -> int:
    """Open what a descriptor stands for once more, in another way."""
    return os.open(f"/proc/self/fd/{descriptor}", flags & ~os.O_NOFOLLOW)


def make_folders(folder: int, path: str, mode: int) -> int:
    """Open a folder below another; make those on the way that are missing, with this mode. Return its descriptor."""
    if len(os.fsencode(path)) >= _LONGEST_PATH:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    here = os.dup(folder)
    try:
        for part in path.split("/"):
            if part in ("", "."):
                continue
            if part == "..":
                raise OSError(errno.EXDEV, "a path leads out of its folder", path)
            made = False
            try:
                os.mkdir(part, 0o700, dir_fd=here)
                made = True
            except FileExistsError:
                pass
            below = open_below(here, part, os.O_RDONLY | os.O_DIRECTORY)
            os.close(here)
            here = below
            if made:
                os.fchmod(here, mode)
    except BaseException:
        os.close(here)
        raise
    return here
