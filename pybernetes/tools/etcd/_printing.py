"""The forms in which etcdctl prints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

FORMATS = ("simple", "table", "json")


def add_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag that chooses a form."""
    parser.add_argument("-w", "--write-out", choices=FORMATS, default="simple")


def printed(
    form: str,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    objects: Sequence[Mapping[str, Any]] | Mapping[str, Any],
) -> str:
    """Return rows as lines with commas or as a table, or the objects as JSON."""
    if form == "json":
        return json.dumps(objects, separators=(",", ":"))
    if form == "table":
        return table(titles, rows)
    return "\n".join(", ".join(row) for row in rows)


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with lines around it."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    line = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    head = "|" + "|".join(f" {title:^{width}} " for title, width in zip(titles, widths, strict=True)) + "|"
    body = [
        "|" + "|".join(f" {cell:>{width}} " for cell, width in zip(row, widths, strict=True)) + "|"
        for row in rows
    ]
    return "\n".join([line, head, line, *body, line])


def size(number: int) -> str:
    """Return a number of bytes for people, in powers of 1000: 2.1 MB, 48 MB."""
    if number < 10:
        return f"{number} B"
    units = ["B", "kB", "MB", "GB", "TB"]
    value = float(number)
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    rounded = int(value * 10 + 0.5) / 10
    return f"{rounded:.1f} {units[0]}" if rounded < 10 else f"{rounded:.0f} {units[0]}"
