"""How much memory a program may use, and what of it is left for what others make it keep.

A control group with a limit kills the program that passes it, whoever made it grow. Bounds of buffers and caches are meant
for a machine with plenty; where there is little, each is a share of the room that there is.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

# What a control plane in one process takes with little in it: the room is what is left beside that.
OWN_BYTES = 96 << 20
# However little there is, so much is taken for granted: smaller buffers would help nobody.
_LEAST_BYTES = 32 << 20


def limit(root: Path = Path("/")) -> int:
    """Return how many bytes this process may use: the least of the machine's memory and its control groups' limits."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return machine
    mount, limits = root / "sys/fs/cgroup", [machine]
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            limits += _limits(mount, group, "memory.max")
        elif "memory" in controllers.split(","):
            limits += _limits(mount / "memory", group, "memory.limit_in_bytes")
    return min(limits)


def _limits(mount: Path, group: str, name: str) -> list[int]:
    """Return the limits of a group and of those it is in; in a container it may be the mount itself."""
    limits, folder = [], Path(f"{mount}/{group.strip('/')}")
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):  # not every group has the file, and "max" is no number
            limits.append(int((place / name).read_text()))
        if place == mount:
            break
    return limits


def room(limited: int | None = None) -> int:
    """Return the bytes that what others send or ask for may take, of a limit or of this process's."""
    return max(_LEAST_BYTES, (limit() if limited is None else limited) - OWN_BYTES)
