"""Takes rights away from a process before it becomes another program: capabilities, and new ones by what it executes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_BOUNDING_DROP, _NO_NEW_PRIVILEGES = 24, 38  # of prctl
_LAST = Path("/proc/sys/kernel/cap_last_cap")
_NUMBERS = {
    "DAC_OVERRIDE": 1, "DAC_READ_SEARCH": 2, "FOWNER": 3, "NET_BIND_SERVICE": 10, "NET_ADMIN": 12, "SYS_ADMIN": 21,
}  # fmt: skip


def surplus(keep: Iterable[str]) -> tuple[int, ...]:
    """Return the numbers of the kernel's capabilities without those to keep; to be asked before a fork."""
    kept = {_NUMBERS[name] for name in keep}
    return tuple(number for number in range(int(_LAST.read_text()) + 1) if number not in kept)


def drop(capabilities: Iterable[int]) -> None:
    """Take capabilities from whatever this process executes, for good; without root it has none to lose.

    Called between a fork and the execution of a program, so that nothing here may import or log.
    """
    _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for number in capabilities:
        _LIBC.prctl(_BOUNDING_DROP, number, 0, 0, 0)
