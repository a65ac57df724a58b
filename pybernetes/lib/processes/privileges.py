"""Takes rights away from a process before it becomes another program: its user, capabilities, and new ones by what it executes."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_KEEP_CAPABILITIES, _BOUNDING_DROP, _NO_NEW_PRIVILEGES, _AMBIENT = 8, 24, 38, 47  # of prctl
_AMBIENT_RAISE = 2
_VERSION_3 = 0x20080522  # of capset's header: capabilities in two words
_LAST = Path("/proc/sys/kernel/cap_last_cap")
_NUMBERS = {
    "CHOWN": 0, "DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "FOWNER": 3, "KILL": 5, "SETGID": 6, "SETUID": 7, "NET_BIND_SERVICE": 10, "NET_ADMIN": 12, "SYS_ADMIN": 21,
}  # fmt: skip


def numbers(names: Iterable[str]) -> tuple[int, ...]:
    """Return the kernel's numbers of capabilities."""
    return tuple(_NUMBERS[name] for name in names)


def surplus(keep: Iterable[str]) -> tuple[int, ...]:
    """Return the numbers of the kernel's capabilities without those to keep; to be asked before a fork."""
    kept = set(numbers(keep))
    return tuple(number for number in range(int(_LAST.read_text()) + 1) if number not in kept)


def drop(capabilities: Iterable[int]) -> None:
    """Take capabilities from whatever this process executes, for good; without root it has none to lose.

    Called between a fork and the execution of a program, so that nothing here may import or log.
    """
    _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for number in capabilities:
        _LIBC.prctl(_BOUNDING_DROP, number, 0, 0, 0)


def become(user: int, keep: Iterable[int] = ()) -> None:
    """Become another user with the group of the same number and no other; what is executed has the kept capabilities.

    Called by root between a fork and the execution of a program, after ``drop``.
    """
    words = [0, 0]
    for number in keep:
        words[number // 32] |= 1 << number % 32
    _check(_LIBC.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0))
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    # Each word three times: effective, permitted, inheritable.
    data = (ctypes.c_uint32 * 6)(*(word for word in words for _ in range(3)))
    _check(_LIBC.capset(ctypes.byref(header), ctypes.byref(data)))
    for number in keep:
        _check(_LIBC.prctl(_AMBIENT, _AMBIENT_RAISE, number, 0, 0))


def _check(result: int) -> None:
    if result:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
