"""Turns what was measured into figures, and figures into a table."""

from collections.abc import Sequence
from typing import Any

Figures = dict[str, Any]

COLUMNS = (
    ("per s", "rate"),
    ("p50 ms", "p50_ms"),
    ("p90 ms", "p90_ms"),
    ("p99 ms", "p99_ms"),
    ("MB/s", "megabytes_per_second"),
    ("failed", "failures"),
    ("server", "server_load"),
    ("others", "other_load"),
)


def figures_of_load(
    latencies: Sequence[float],
    seconds: float,
    received: int,
    failures: int,
    busy_seconds: float,
    generator: str,
) -> Figures:
    """Compute rate, volume and latency percentiles (milliseconds) of one run."""
    ordered = sorted(latencies)
    return {
        **rates(len(ordered), seconds, received, failures, busy_seconds, generator),
        **{f"p{percent}_ms": milliseconds(percentile(ordered, percent)) for percent in (50, 90, 99)},
    }


def rates(
    count: int, seconds: float, received: int, failures: int, busy_seconds: float, generator: str
) -> Figures:
    """Compute what every kind of measurement has in common."""
    seconds = max(seconds, 1e-9)
    return {
        "rate": round(count / seconds, 2),
        "count": count,
        "seconds": round(seconds, 3),
        "megabytes_per_second": round(received / seconds / 1e6, 2),
        "failures": failures,
        "generator": generator,
        "generator_load": round(busy_seconds / seconds, 2),
    }


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the value below which the given share of an ordered sequence lies; 0 when it is empty."""
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def milliseconds(seconds: float) -> float:
    """Round a time to microseconds and return it in milliseconds."""
    return round(seconds * 1000, 3)


def table(result: dict[str, Any]) -> str:
    """Render a whole result for people."""
    lines = [f"server {result['server_version']}, stored pod {result['pod_bytes']} bytes"]
    lines += ["server, others, generator: cores in use by these during the measurement", ""]
    lines.append(f"{'work':<24}" + "".join(f"{title:>10}" for title, _ in COLUMNS) + "  generator")
    for name, figures in result["results"].items():
        cells = "".join(f"{_cell(figures.get(column)):>10}" for _, column in COLUMNS)
        lines.append(f"{name:<24}{cells}  {figures['generator']} {figures['generator_load']:.2f}")
        if figures.get("note"):
            lines.append(f"    {figures['note']}")
    if result["ready_seconds"]:
        lines += ["", *(f"ready, {name}: {value} s" for name, value in result["ready_seconds"].items())]
    if result["memory_megabytes"]:
        lines += ["", *(f"memory, {name}: {value} MB" for name, value in result["memory_megabytes"].items())]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return str(value)
