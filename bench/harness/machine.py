"""Facts about the machine and about processes on it, read from /proc."""

import os
import platform
import resource
import time
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
_PROCESS_CLOCK = 2


def describe_machine() -> dict[str, str | int]:
    """Return what a reader needs to judge absolute figures."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in _read("/proc/cpuinfo").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_megabytes": _field("/proc/meminfo", "MemTotal") // 1024,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process and its descendants, or 0 when it is gone."""
    own = _field(f"/proc/{pid}/status", "VmRSS") / 1024
    return round(own + sum(resident_megabytes(child) for child in _children(pid)), 1)


@dataclass
class CpuMeter:
    """Tells who used the processors between `begin` and `end`, in cores."""

    pids: list[int]

    def begin(self) -> None:
        """Start to count."""
        self._before = self._now()

    def end(self) -> dict[str, float]:
        """Return what the measured servers used and what everybody else but the benchmark used."""
        wall, machine, generator, servers = (
            after - before for after, before in zip(self._now(), self._before, strict=True)
        )
        wall = max(wall, 1e-9)
        # The kernel counts the whole machine in ticks, and processes more finely: small differences are noise.
        others = max(0.0, machine - generator - servers)
        return {"server_load": round(servers / wall, 2), "other_load": round(others / wall, 2)}

    def _now(self) -> tuple[float, float, float, float]:
        own = resource.getrusage(resource.RUSAGE_SELF)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        generator = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
        servers = sum(processor_seconds(pid) for pid in self.pids)
        return time.perf_counter(), _machine_seconds(), generator, servers


def _machine_seconds() -> float:
    user, nice, system, _idle, _wait, interrupts, soft, steal, *_ = _read("/proc/stat").split()[1:11]
    return sum(int(ticks) for ticks in (user, nice, system, interrupts, soft, steal)) / TICKS


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and its descendants have used."""
    # The process' own clock counts nanoseconds; /proc counts ticks. Its number is made as the C library does.
    try:
        own = time.clock_gettime((~pid << 3) | _PROCESS_CLOCK)
    except OSError:
        own = 0.0  # it is gone
    return own + sum(processor_seconds(child) for child in _children(pid))


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += [int(word) for word in _read(str(task / "children")).split()]
    except OSError:
        pass
    return children


def _field(path: str, name: str) -> int:
    for line in _read(path).splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
