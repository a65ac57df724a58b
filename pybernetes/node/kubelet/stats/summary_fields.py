"""Figures in the form of the summary API (stats/v1alpha1): pure functions."""

from __future__ import annotations

from typing import Any

from pybernetes.lib import rfc3339
from pybernetes.node.stats.cgroup import Pressure, Usage
from pybernetes.node.stats.filesystem import Filesystem
from pybernetes.node.stats.network import Interface, primary_interface

Fields = dict[str, Any]


def cpu(usage: Usage, rate: int, now: float) -> Fields:
    """CPUStats."""
    found = {"time": rfc3339.seconds(now), "usageNanoCores": rate, "usageCoreNanoSeconds": usage.cpu}
    return found | _stalls(usage, "cpu")


def memory(usage: Usage, now: float, limit: int | None = None) -> Fields:
    """MemoryStats; what is available is told only where there is a limit."""
    limit = usage.memory_limit if limit is None else limit
    found: Fields = {"time": rfc3339.seconds(now)}
    if limit:
        found["availableBytes"] = max(0, limit - usage.working_set)
    found |= {
        "usageBytes": usage.memory, "workingSetBytes": usage.working_set, "rssBytes": usage.rss,
        "pageFaults": usage.page_faults, "majorPageFaults": usage.major_page_faults,
    }  # fmt: skip
    return found | _stalls(usage, "memory")


def swap(usage: Usage, now: float) -> Fields:
    """SwapStats."""
    found: Fields = {"time": rfc3339.seconds(now)}
    if usage.swap_limit:
        found["swapAvailableBytes"] = max(0, usage.swap_limit - usage.swap)
    return found | {"swapUsageBytes": usage.swap}


def io(usage: Usage, now: float) -> Fields | None:
    """IOStats, where the kernel tells of waiting."""
    stalls = _stalls(usage, "io")
    return {"time": rfc3339.seconds(now)} | stalls if stalls else None


def _stalls(usage: Usage, name: str) -> Fields:
    found = usage.pressure.get(name)
    if not found:
        return {}
    return {"psi": {kind: _stall(found.get(kind) or Pressure()) for kind in ("full", "some")}}


def _stall(pressure: Pressure) -> Fields:
    short, middle, long = pressure.averages
    return {"total": int(pressure.total * 1e9), "avg10": short, "avg60": middle, "avg300": long}


def network(interfaces: list[Interface], now: float) -> Fields | None:
    """NetworkStats: one interface stands for all, and all are listed."""
    chosen = primary_interface(interfaces)
    if chosen is None:
        return None
    listed = [_interface(each) for each in interfaces]
    return {"time": rfc3339.seconds(now), **_interface(chosen), "interfaces": listed}


def _interface(each: Interface) -> Fields:
    return {
        "name": each.name, "rxBytes": each.received_bytes, "rxErrors": each.received_errors,
        "txBytes": each.sent_bytes, "txErrors": each.sent_errors,
    }  # fmt: skip


def filesystem(disk: Filesystem, now: float, used: tuple[int, int] | None = None) -> Fields:
    """FsStats of a filesystem, or of what something uses of it (bytes and inodes)."""
    size, count = used if used is not None else (disk.used, disk.inodes_used)
    return {
        "time": rfc3339.seconds(now), "availableBytes": disk.available, "capacityBytes": disk.capacity,
        "usedBytes": size, "inodesFree": disk.inodes_free, "inodes": disk.inodes, "inodesUsed": count,
    }  # fmt: skip


def total(parts: list[Fields | None]) -> tuple[int, int]:
    """Bytes and inodes that several FsStats say are used."""
    found = [each for each in parts if each is not None]
    return sum(each.get("usedBytes", 0) for each in found), sum(each.get("inodesUsed", 0) for each in found)


def rate(before: tuple[float, int] | None, now: float, cpu: int) -> int:
    """Nanoseconds of CPU for each second since an earlier look."""
    if before is None or now <= before[0] or cpu < before[1]:
        return 0
    return int((cpu - before[1]) / (now - before[0]))
