"""The report of drills, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pybernetes.tools.local.drill.drill import Outcome

_TITLES = ("DRILL", "LONGEST GAP", "LIMIT", "ACKNOWLEDGED", "UNANSWERED", "LOST", "DUPLICATED", "WATCH GAPS", "LISTS", "VIOLATIONS")  # fmt: skip


def as_json(outcomes: Sequence[Outcome]) -> str:
    """Return everything that is known."""
    entries = [{**asdict(outcome), "good": outcome.is_good} for outcome in outcomes]
    return json.dumps({"good": all(outcome.is_good for outcome in outcomes), "drills": entries}, indent=2)


def as_text(outcomes: Sequence[Outcome]) -> str:
    """Return a table, and below it what is noteworthy of each drill."""
    rows = [_TITLES, *map(_row, outcomes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_TITLES))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([*lines, "", *(line for outcome in outcomes for line in _notes(outcome))])


def _row(outcome: Outcome) -> tuple[str, ...]:
    limit = "-" if outcome.limit is None else f"{outcome.limit:.1f} s"
    seen = outcome.figures
    if seen is None:
        return (outcome.name, "?", limit, *["?"] * (len(_TITLES) - 3))
    numbers = (
        seen.acknowledged, seen.unanswered, seen.lost, seen.duplicated, seen.watch_gaps, seen.lists, seen.violations
    )  # fmt: skip
    return (outcome.name, f"{seen.longest_gap:.2f} s", limit, *map(str, numbers))


def _notes(outcome: Outcome) -> list[str]:
    """Return the lines about a drill: whether it went well, what was measured besides, which errors clients got."""
    lines = [f"{outcome.name}: {'good' if outcome.is_good else 'NOT GOOD'}: {outcome.summary}"]
    if outcome.problem:
        lines.append(f"  problem: {outcome.problem}")
    lines += [f"  {name} after {seconds:.2f} s" for name, seconds in outcome.notes.items()]
    if outcome.counts:
        lines.append(
            f"  done: {', '.join(f'{what} {number} times' for what, number in outcome.counts.items())}"
        )
    if outcome.figures is not None and outcome.figures.errors:
        errors = ", ".join(f"{name} {number} times" for name, number in outcome.figures.errors.items())
        lines.append(f"  errors: {errors}")
    return lines
