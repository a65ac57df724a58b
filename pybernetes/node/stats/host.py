"""The machine as a whole."""

from __future__ import annotations

import os
from pathlib import Path


def boot_time() -> float:
    """Return when the machine started, in seconds since the epoch."""
    for line in _text("/proc/stat").splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0


def cpu_time() -> int:
    """Return the nanoseconds that all CPUs together have worked."""
    words = _text("/proc/stat").split("\n", 1)[0].split()[1:9]
    ticks = [int(word) for word in words]
    idle = sum(ticks[3:5])  # idle and waiting for a disk
    return (sum(ticks) - idle) * 1_000_000_000 // os.sysconf("SC_CLK_TCK") if ticks else 0


def memory_total() -> int:
    """Return the bytes of memory."""
    return meminfo().get("MemTotal", 0)


def meminfo() -> dict[str, int]:
    """Return the sizes of /proc/meminfo in bytes."""
    sizes = {}
    for line in _text("/proc/meminfo").splitlines():
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdigit():
            sizes[name] = int(words[0]) * (1024 if len(words) > 1 else 1)
    return sizes


def processes() -> tuple[int, int]:
    """Return how many tasks there may be and how many there are."""
    limits = [_text(f"/proc/sys/kernel/{name}").strip() for name in ("pid_max", "threads-max")]
    highest = min((int(text) for text in limits if text.isdigit()), default=0)
    words = _text("/proc/loadavg").split()
    return highest, int(words[3].partition("/")[2]) if len(words) > 3 else 0


def cores() -> tuple[int, int]:
    """Return the numbers of physical cores and of sockets."""
    sockets: set[str] = set()
    cores: set[tuple[str, str]] = set()
    for folder in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology"):
        socket = _text(str(folder / "physical_package_id")).strip()
        sockets.add(socket)
        cores.add((socket, _text(str(folder / "core_id")).strip()))
    count = os.cpu_count() or 1
    return len(cores) or count, len(sockets) or 1


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
