"""Confines this process to a few folders, where the kernel has Landlock: whoever takes it over finds no other files."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38
# Rights of the first version in the order of their bits; later versions added three.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 2, 4, 8
_FIRST = (1 << 13) - 1
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CONTROL
_MAKE_DEVICES = 1 << 6 | 1 << 11  # character and block
_SCOPES = 3  # abstract sockets of others, and signals to them


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock that the kernel has; 0 for none."""
    return max(0, _LIBC.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Let this thread, and those that it starts, reach nothing but these files and folders; False where the kernel cannot.

    Nothing is executed any more either. A path that does not exist is left out.
    """
    supported = version()
    if not supported:
        return False
    handled = _FIRST
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE_CONTROL)):
        handled |= right if supported >= since else 0
    ruleset = _Ruleset(handled, 0, _SCOPES if supported >= 6 else 0)
    size = ctypes.sizeof(ruleset) if supported >= 6 else 8
    rules = _call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(rules, path, handled & (_READ_FILE | _READ_FOLDER))
        for path in writable:
            _allow(rules, path, handled & ~(_EXECUTE | _MAKE_DEVICES | _DEVICE_CONTROL))
        _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)
    return True


def _allow(rules: int, path: Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= _OF_FILES
        rule = _Beneath(rights, parent)
        kind, flags = ctypes.c_int(_PATH_BENEATH), ctypes.c_uint32(0)
        _call(_ADD_RULE, ctypes.c_int(rules), kind, ctypes.byref(rule), flags)
    finally:
        os.close(parent)


def _call(number: int, *arguments: object) -> int:
    result = _LIBC.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
