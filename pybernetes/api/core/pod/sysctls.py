"""Kernel settings of pods: their names, and the namespaces of the kernel that they belong to."""

from __future__ import annotations

_IPC_NAMES = frozenset(
    f"kernel.{name}"
    for name in (
        "sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced", "shm", "msgmax", "msgmnb", "msgmni", "msg",
    )
)  # fmt: skip
_PREFIXES = {"net.": "Net", "fs.mqueue.": "IPC", "user.": "User"}


def normalized(name: str) -> str:
    """Return the name with dots between its words; it may be written with slashes, and dots inside of words."""
    first = next((char for char in name if char in "./"), ".")
    return name.translate({ord("/"): ".", ord("."): "/"}) if first == "/" else name


def namespace(name: str) -> str:
    """Return the kernel namespace of a setting, or of a pattern with a star at its end; empty if it has none."""
    name = normalized(name).partition("*")[0]
    if name in _IPC_NAMES:
        return "IPC"
    if name == "kernel.domainname":
        return "UTS"
    return next((space for prefix, space in _PREFIXES.items() if name.startswith(prefix)), "")
