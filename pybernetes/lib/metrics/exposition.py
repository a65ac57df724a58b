"""Writes metrics in Prometheus' text format, and finds out whether somebody would rather have them in the other.

Recording stays with whoever counts: plain integers and histograms, as cheap as Python has them. This module only
turns them into text, when somebody scrapes.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence

from pybernetes.lib.http import accept
from pybernetes.lib.metrics.histogram import Histogram

Labels = Sequence[tuple[str, str]]
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def number(value: float) -> str:
    """Return a number as Prometheus' own programs write it."""
    if isinstance(value, int) or value.is_integer():
        whole = int(value)
        if abs(whole) < 1_000_000 or isinstance(value, int):
            return str(whole)
        digits = len(str(abs(whole)).rstrip("0"))
        return f"{value:.{max(0, min(digits, 17) - 1)}e}"  # as many digits as it has, and no more
    return repr(value)


class Exposition:
    """Collect the lines of one scrape."""

    content_type = b"text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self._lines: list[str] = []

    def family(self, name: str, kind: str, text: str) -> None:
        """Begin a family of metrics; its samples follow."""
        self._lines.append(f"# HELP {name} {text}\n# TYPE {name} {kind}")

    def sample(self, name: str, labels: Labels, value: float, moment: int | None = None) -> None:
        """Write one sample, with the moment (in milliseconds) that it is of if that is not now."""
        tail = "" if moment is None else f" {moment}"
        self._lines.append(f"{name}{_braces(labels)} {number(value)}{tail}")

    def histogram(self, name: str, labels: Labels, histogram: Histogram) -> None:
        """Write a histogram."""
        inner = _inner(labels)
        inner += "," if inner else ""
        running, counts = 0, histogram.counts
        for bound, count in zip(histogram.bounds, counts, strict=False):
            running += count
            self._lines.append(f'{name}_bucket{{{inner}le="{bound:g}"}} {running}')
        running += counts[-1]
        self._lines.append(f'{name}_bucket{{{inner}le="+Inf"}} {running}')
        self._lines.append(f"{name}_sum{_braces(labels)} {number(histogram.total)}")
        self._lines.append(f"{name}_count{_braces(labels)} {running}")

    def process(self) -> None:
        """Write the metrics of this process that every Prometheus client has."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self._process("process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.",
                      usage.ru_utime + usage.ru_stime)  # fmt: skip
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._process("process_max_fds", "gauge", "Maximum number of open file descriptors.", limit)
        try:
            descriptors = len(os.listdir("/proc/self/fd"))
            with open("/proc/self/statm") as file:
                virtual, resident = (int(pages) * resource.getpagesize() for pages in file.read().split()[:2])
        except OSError:
            return  # not Linux, or /proc is hidden
        self._process("process_open_fds", "gauge", "Number of open file descriptors.", descriptors)
        self._process("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", resident)
        self._process("process_start_time_seconds", "gauge",
                      "Start time of the process since unix epoch in seconds.", _START)  # fmt: skip
        self._process("process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.", virtual)

    def _process(self, name: str, kind: str, text: str, value: float) -> None:
        self.family(name, kind, text)
        self.sample(name, (), value)

    def render(self) -> bytes:
        """Return all lines."""
        return ("\n".join(self._lines) + "\n").encode()


def _inner(labels: Labels) -> str:
    return ",".join(f'{key}="{value.translate(_ESCAPES)}"' for key, value in labels)


def _braces(labels: Labels) -> str:
    return f"{{{_inner(labels)}}}" if labels else ""


def _start_time() -> float:
    try:
        with open("/proc/self/stat") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return time.time()


_START = _start_time()


def negotiated(wanted: str, native: bool = True) -> Exposition:
    """Return what to write the metrics to for whoever sent this Accept header; ``native`` histograms may be off."""
    for clause in accept.parse(wanted):
        if accept.matches(clause.type, "text/plain"):
            break
        if clause.type == "application/vnd.google.protobuf":
            from pybernetes.lib.metrics.protobuf_exposition import (  # most read text
                MESSAGE,
                ProtobufExposition,
            )

            if clause.parameters.get("proto") == MESSAGE and clause.parameters.get("encoding") == "delimited":
                return ProtobufExposition(native)
    return Exposition()
