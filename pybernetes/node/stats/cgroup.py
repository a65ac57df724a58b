"""The figures of a control group, from the files of v1 and v2."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

_UNLIMITED = 1 << 62
_MICRO, _TICK = 1000, 10_000_000  # nanoseconds in a microsecond, and in a tick of 1/100 s


@dataclass(slots=True)
class Pressure:
    """How long tasks waited for something: seconds in total and shares of the last 10, 60 and 300 seconds."""

    total: float = 0.0
    averages: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(slots=True)
class Io:
    """What was read from and written to one device."""

    read_bytes: int = 0
    written_bytes: int = 0
    reads: int = 0
    writes: int = 0


@dataclass(slots=True)
class Usage:
    """One control group at one moment. Times are nanoseconds, sizes bytes; no limit is 0."""

    cpu: int = 0
    cpu_user: int = 0
    cpu_system: int = 0
    periods: int = 0
    throttled_periods: int = 0
    throttled: int = 0
    cpu_shares: int = 0
    cpu_quota: int = 0
    cpu_period: int = 0
    memory: int = 0
    working_set: int = 0
    rss: int = 0
    cache: int = 0
    kernel: int = 0
    mapped_file: int = 0
    active_file: int = 0
    inactive_file: int = 0
    swap: int = 0
    page_faults: int = 0
    major_page_faults: int = 0
    failures: int = 0
    largest: int = 0
    memory_limit: int = 0
    swap_limit: int = 0
    memory_reservation: int = 0
    oom_kills: int = 0
    threads: int = 0
    threads_limit: int = 0
    processes: int = 0
    io: dict[str, Io] = field(default_factory=dict)  # by "major:minor"
    pressure: dict[str, dict[str, Pressure]] = field(default_factory=dict)  # cpu, memory, io: some, full


def numbers(text: str) -> dict[str, int]:
    """Return the numbers of a file with lines ``name number``."""
    values = {}
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        if value.strip().lstrip("-").isdigit():
            values[name] = int(value)
    return values


def limit(text: str) -> int:
    """Return a limit, 0 if there is none."""
    word = text.split()[0] if text.split() else "max"
    value = int(word) if word.lstrip("-").isdigit() else 0
    return 0 if value < 0 or value >= _UNLIMITED else value


def pressure(text: str) -> dict[str, Pressure]:
    """Return what a file of pressure stall information says."""
    pressures = {}
    for line in text.splitlines():
        kind, *words = line.split()
        values = dict(word.split("=", 1) for word in words)
        averages = tuple(float(values.get(f"avg{seconds}", 0)) for seconds in (10, 60, 300))
        pressures[kind] = Pressure(int(values.get("total", 0)) / 1e6, averages)  # type: ignore[arg-type]
    return pressures


def shares_of_weight(weight: int) -> int:
    """Return the cpu.shares of v1 that a cpu.weight of v2 stands for."""
    return max(2, min(262144, 2 + (weight - 1) * 262142 // 9999)) if weight else 0


class Reader:
    """Reads the groups below a mount of control groups."""

    def __init__(self, mount: Path = Path("/sys/fs/cgroup")) -> None:
        self.mount = mount
        self.unified = (mount / "cgroup.controllers").exists()

    def exists(self, group: str) -> bool:
        """Return whether there is such a group; names begin with a slash."""
        return self._path("memory", group, "").is_dir()

    def read(self, group: str) -> Usage | None:
        """Return the figures of a group, None if there is no such group."""
        if not self.exists(group):
            return None
        usage = Usage()
        try:
            (self._read_v2 if self.unified else self._read_v1)(group, usage)
        except FileNotFoundError:
            return None  # gone meanwhile
        return usage

    def children(self, group: str) -> list[str]:
        """Return the names of the groups right below a group."""
        try:
            with os.scandir(self._path("memory", group, "")) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except FileNotFoundError:
            return []

    def pids(self, group: str) -> list[int]:
        """Return the processes of a group itself."""
        return [int(pid) for pid in self._text("memory", group, "cgroup.procs").split()]

    def _path(self, controller: str, group: str, name: str) -> Path:
        base = self.mount if self.unified else self.mount / controller
        return Path(f"{base}/{group.strip('/')}/{name}")

    def _text(self, controller: str, group: str, name: str) -> str:
        try:
            with open(self._path(controller, group, name)) as file:
                return file.read()
        except OSError:
            return ""  # the root has fewer files, and not every kernel has every controller

    def _number(self, controller: str, group: str, name: str) -> int:
        text = self._text(controller, group, name).strip()
        return int(text) if text.lstrip("-").isdigit() else 0

    def _read_v1(self, group: str, usage: Usage) -> None:
        usage.cpu = self._number("cpuacct", group, "cpuacct.usage")
        times = numbers(self._text("cpuacct", group, "cpuacct.stat"))
        usage.cpu_user, usage.cpu_system = times.get("user", 0) * _TICK, times.get("system", 0) * _TICK
        throttling = numbers(self._text("cpu", group, "cpu.stat"))
        usage.periods = throttling.get("nr_periods", 0)
        usage.throttled_periods = throttling.get("nr_throttled", 0)
        usage.throttled = throttling.get("throttled_time", 0)
        usage.cpu_shares = self._number("cpu", group, "cpu.shares")
        usage.cpu_quota = max(0, self._number("cpu", group, "cpu.cfs_quota_us"))
        usage.cpu_period = self._number("cpu", group, "cpu.cfs_period_us")
        self._read_memory_v1(group, usage)
        usage.threads = self._number("pids", group, "pids.current")
        usage.threads_limit = limit(self._text("pids", group, "pids.max") or "max")
        usage.processes = len(self.pids(group))
        for name, read, written in (
            ("blkio.throttle.io_service_bytes_recursive", "read_bytes", "written_bytes"),
            ("blkio.throttle.io_serviced_recursive", "reads", "writes"),
        ):
            for line in self._text("blkio", group, name).splitlines():
                words = line.split()
                if len(words) == 3 and words[1] in ("Read", "Write"):
                    entry = usage.io.setdefault(words[0], Io())
                    setattr(entry, read if words[1] == "Read" else written, int(words[2]))

    def _read_memory_v1(self, group: str, usage: Usage) -> None:
        stat = numbers(self._text("memory", group, "memory.stat"))
        usage.memory = self._number("memory", group, "memory.usage_in_bytes")
        usage.rss = stat.get("total_rss", stat.get("rss", 0))
        usage.cache = stat.get("total_cache", stat.get("cache", 0))
        usage.mapped_file = stat.get("total_mapped_file", stat.get("mapped_file", 0))
        usage.active_file = stat.get("total_active_file", 0)
        usage.inactive_file = stat.get("total_inactive_file", 0)
        usage.swap = stat.get("total_swap", stat.get("swap", 0))
        usage.page_faults, usage.major_page_faults = stat.get("pgfault", 0), stat.get("pgmajfault", 0)
        usage.kernel = self._number("memory", group, "memory.kmem.usage_in_bytes")
        usage.failures = self._number("memory", group, "memory.failcnt")
        usage.largest = self._number("memory", group, "memory.max_usage_in_bytes")
        usage.memory_limit = limit(self._text("memory", group, "memory.limit_in_bytes"))
        both = limit(self._text("memory", group, "memory.memsw.limit_in_bytes"))
        usage.swap_limit = max(0, both - usage.memory_limit) if usage.memory_limit else 0
        usage.memory_reservation = limit(self._text("memory", group, "memory.soft_limit_in_bytes"))
        usage.oom_kills = numbers(self._text("memory", group, "memory.oom_control")).get("oom_kill", 0)
        usage.working_set = max(0, usage.memory - usage.inactive_file)

    def _read_v2(self, group: str, usage: Usage) -> None:
        times = numbers(self._text("", group, "cpu.stat"))
        usage.cpu = times.get("usage_usec", 0) * _MICRO
        usage.cpu_user, usage.cpu_system = (
            times.get(f"{mode}_usec", 0) * _MICRO for mode in ("user", "system")
        )
        usage.periods, usage.throttled_periods = times.get("nr_periods", 0), times.get("nr_throttled", 0)
        usage.throttled = times.get("throttled_usec", 0) * _MICRO
        usage.cpu_shares = shares_of_weight(self._number("", group, "cpu.weight"))
        words = self._text("", group, "cpu.max").split()
        if len(words) == 2:
            usage.cpu_quota = int(words[0]) if words[0].isdigit() else 0
            usage.cpu_period = int(words[1])
        self._read_memory_v2(group, usage)
        usage.threads = self._number("", group, "pids.current")
        usage.threads_limit = limit(self._text("", group, "pids.max") or "max")
        usage.processes = len(self.pids(group))
        for line in self._text("", group, "io.stat").splitlines():
            device, *pairs = line.split()
            values = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            usage.io[device] = Io(
                *(int(values.get(field, 0)) for field in ("rbytes", "wbytes", "rios", "wios"))
            )
        for name in ("cpu", "memory", "io"):
            text = self._text("", group, f"{name}.pressure")
            if text:
                usage.pressure[name] = pressure(text)

    def _read_memory_v2(self, group: str, usage: Usage) -> None:
        stat = numbers(self._text("", group, "memory.stat"))
        usage.rss, usage.cache = stat.get("anon", 0), stat.get("file", 0)
        usage.mapped_file, usage.kernel = stat.get("file_mapped", 0), stat.get("kernel", 0)
        usage.active_file, usage.inactive_file = stat.get("active_file", 0), stat.get("inactive_file", 0)
        usage.page_faults, usage.major_page_faults = stat.get("pgfault", 0), stat.get("pgmajfault", 0)
        # The root has no memory.current; what it has is told by its parts.
        usage.memory = self._number("", group, "memory.current") or usage.rss + usage.cache + usage.kernel
        usage.swap = self._number("", group, "memory.swap.current")
        usage.largest = self._number("", group, "memory.peak")
        usage.memory_limit = limit(self._text("", group, "memory.max") or "max")
        usage.swap_limit = limit(self._text("", group, "memory.swap.max") or "max")
        usage.memory_reservation = limit(self._text("", group, "memory.low") or "0")
        events = numbers(self._text("", group, "memory.events"))
        usage.failures, usage.oom_kills = events.get("max", 0), events.get("oom_kill", 0)
        usage.working_set = max(0, usage.memory - usage.inactive_file)
