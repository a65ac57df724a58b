"""The fields of the summary API (stats/v1alpha1): pure functions."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.stats.cgroup import Pressure, Usage
from pybernetes.node.stats.filesystem import Filesystem
from pybernetes.node.stats.network import Interface, primary_interface


def cpu(usage: Usage, rate: int, now: float) -> Object:
    """Return CPUStats."""
    stats = {"time": rfc3339.seconds(now), "usageNanoCores": rate, "usageCoreNanoSeconds": usage.cpu}
    return stats | _stalls(usage, "cpu")


def memory(usage: Usage, now: float, limit: int | None = None) -> Object:
    """Return MemoryStats; what is available is given only where there is a limit."""
    limit = usage.memory_limit if limit is None else limit
    stats: Object = {"time": rfc3339.seconds(now)}
    if limit:
        stats["availableBytes"] = max(0, limit - usage.working_set)
    stats |= {
        "usageBytes": usage.memory, "workingSetBytes": usage.working_set, "rssBytes": usage.rss,
        "pageFaults": usage.page_faults, "majorPageFaults": usage.major_page_faults,
    }  # fmt: skip
    return stats | _stalls(usage, "memory")


def swap(usage: Usage, now: float) -> Object:
    """Return SwapStats."""
    stats: Object = {"time": rfc3339.seconds(now)}
    if usage.swap_limit:
        stats["swapAvailableBytes"] = max(0, usage.swap_limit - usage.swap)
    return stats | {"swapUsageBytes": usage.swap}


def io(usage: Usage, now: float) -> Object | None:
    """Return IOStats, where the kernel reports pressure."""
    stalls = _stalls(usage, "io")
    return {"time": rfc3339.seconds(now)} | stalls if stalls else None


def _stalls(usage: Usage, name: str) -> Object:
    pressures = usage.pressure.get(name)
    if not pressures:
        return {}
    return {"psi": {kind: _stall(pressures.get(kind) or Pressure()) for kind in ("full", "some")}}


def _stall(pressure: Pressure) -> Object:
    short, middle, long = pressure.averages
    return {"total": int(pressure.total * 1e9), "avg10": short, "avg60": middle, "avg300": long}


def network(interfaces: list[Interface], now: float) -> Object | None:
    """Return NetworkStats: the primary interface in front, and all of them listed."""
    chosen = primary_interface(interfaces)
    if chosen is None:
        return None
    listed = [_interface(interface) for interface in interfaces]
    return {"time": rfc3339.seconds(now), **_interface(chosen), "interfaces": listed}


def _interface(interface: Interface) -> Object:
    return {
        "name": interface.name, "rxBytes": interface.received_bytes, "rxErrors": interface.received_errors,
        "txBytes": interface.sent_bytes, "txErrors": interface.sent_errors,
    }  # fmt: skip


def filesystem(disk: Filesystem, now: float, used: tuple[int, int] | None = None) -> Object:
    """Return FsStats of a filesystem, or of what something uses of it (bytes and inodes)."""
    size, count = used if used is not None else (disk.used, disk.inodes_used)
    return {
        "time": rfc3339.seconds(now), "availableBytes": disk.available, "capacityBytes": disk.capacity,
        "usedBytes": size, "inodesFree": disk.inodes_free, "inodes": disk.inodes, "inodesUsed": count,
    }  # fmt: skip


def total(parts: list[Object | None]) -> tuple[int, int]:
    """Return the bytes and inodes used according to several FsStats."""
    present = [part for part in parts if part is not None]
    return sum(part.get("usedBytes", 0) for part in present), sum(
        part.get("inodesUsed", 0) for part in present
    )


def rate(before: tuple[float, int] | None, now: float, cpu: int) -> int:
    """Return the nanoseconds of CPU per second since an earlier reading."""
    if before is None or now <= before[0] or cpu < before[1]:
        return 0
    return int((cpu - before[1]) / (now - before[0]))
