"""pyb bench compare BASE NEW: the ratios between two results of the same benchmark."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

SUMMARY = "the ratios between two result files: pyb bench compare BASE.json NEW.json"

# What is compared of each measurement, and whether more is better.
METRICS = (("rate", "per s", True), ("p50_ms", "p50 ms", False), ("p99_ms", "p99 ms", False))

DISTURBANCE = 0.25  # cores in use by others, beyond which a figure is doubtful


def main(argv: list[str]) -> int:
    """Print a table of both results and how many times better the second is."""
    parser = argparse.ArgumentParser(prog="pyb bench compare", description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("new", type=Path)
    options = parser.parse_args(argv)
    try:
        base, new = _load(options.base), _load(options.new)
    except (OSError, ValueError) as error:
        print(f"pyb bench compare: {error}", file=sys.stderr)
        return 1
    print(f"{'work':<36}{'':<8}{'base':>12}{'new':>12}{'better':>10}")
    for row in compare(base, new):
        print(row)
    return 0


def compare(base: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the lines of the comparison; a ratio over 1 means that `new` is better."""
    lines = []
    for name in _common(base, new, "results"):
        for metric, unit, more_is_better in METRICS:
            before, after = base["results"][name].get(metric), new["results"][name].get(metric)
            if before and after:
                lines.append(_line(name, unit, before, after, more_is_better))
        if base["results"][name].get("generator") != new["results"][name].get("generator"):
            lines.append("    measured with different generators")
        disturbed = max(side["results"][name].get("other_load", 0) for side in (base, new))
        if disturbed > DISTURBANCE:
            lines.append(f"    disturbed: other programs used up to {disturbed} cores")
    for section, unit in (("ready_seconds", "s"), ("memory_megabytes", "MB")):
        for name in _common(base, new, section):
            lines.append(_line(name, unit, base[section][name], new[section][name], False))
    if base.get("machine") != new.get("machine"):
        lines.append("These results are from different machines: the ratios mean little.")
    if abs(base.get("pod_bytes", 0) - new.get("pod_bytes", 0)) > 0.05 * base.get("pod_bytes", 0):
        lines.append(f"The stored pods differ in size: {base['pod_bytes']} and {new['pod_bytes']} bytes.")
    if base.get("quick") != new.get("quick"):
        lines.append("One of these results is of a quick run.")
    return lines


def _common(base: dict[str, Any], new: dict[str, Any], section: str) -> list[str]:
    return [name for name in base.get(section, {}) if name in new.get(section, {})]


def _line(name: str, unit: str, before: float, after: float, more_is_better: bool) -> str:
    better, worse = (after, before) if more_is_better else (before, after)
    ratio = f"{better / worse:.2f} ×" if worse else "-"
    return f"{name:<36}{unit:<8}{before:>12,.2f}{after:>12,.2f}{ratio:>10}"


def _load(path: Path) -> dict[str, Any]:
    # The result is the last line; a log may stand before it.
    return json.loads(path.read_text().strip().splitlines()[-1])
