"""Draws a pod's creation for a terminal: a line for each step, with a bar where it is in time."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.lib.printable import printable
from pybernetes.tools.trace.row import Row
from pybernetes.tools.trace.timeline import Trace

_NARROWEST = 10
_LONGEST_DETAIL = 60
_MOST_ROWS = 100


class Style(NamedTuple):
    """The characters of bars: done and under way."""

    done: str
    open: str


def style(encoding: str) -> Style:
    """Return the style that an encoding has characters for."""
    try:
        "█▒".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return Style("#", ".")
    return Style("█", "▒")


def draw(trace: Trace, width: int, style: Style, now: float) -> str:
    """Return a trace as text; what is under way ends now. Whatever objects say is made harmless."""
    where = f" on {trace.node}" if trace.node else ""
    lines = [f"pod {trace.namespace}/{trace.name}{where}: {trace.phase or 'unknown'}"]
    begin = trace.begin if trace.begin is not None else now
    end = trace.end if trace.end is not None else max([now, *(row.end or row.begin for row in trace.steps)])
    rows = trace.steps[:_MOST_ROWS]
    details = [_detail(row) for row in rows]
    room = max(_NARROWEST, width - 50 - max([0, *map(len, details)]))
    for row, detail in zip(rows, details, strict=True):
        seconds = row.seconds if row.end is not None else max(0.0, now - row.begin)
        assert seconds is not None
        took = _milliseconds(seconds, row.precise) + ("" if row.end is not None else "…")
        bar = _bar(row, begin, end, room, style)
        lines.append(f"{row.number:3} {row.name:13}{row.component:15}{took:>13}  {bar} {detail}".rstrip())
    if trace.seconds is not None and trace.accounted is not None:
        total = _milliseconds(trace.seconds, trace.precise)
        lines.append(
            f"    from the request until it ran: {total}, of which the steps account for {trace.accounted:.1%}"
        )
    lines += [f"    note: {note}" for note in trace.notes]
    return "\n".join(printable(line) for line in lines)


def _detail(row: Row) -> str:
    text = (
        row.detail
        if row.source == "mark"
        else " ".join(part for part in (row.detail, f"({row.source})") if part)
    )
    return text if len(text) <= _LONGEST_DETAIL else f"{text[: _LONGEST_DETAIL - 1]}…"


def _milliseconds(seconds: float, precise: bool) -> str:
    return f"{seconds * 1000:,.1f} ms" if precise else f"~{seconds:,.0f} s"


def _bar(row: Row, begin: float, end: float, room: int, style: Style) -> str:
    whole = end - begin
    if whole <= 0:
        return " " * room
    first = min(room - 1, max(0, int((row.begin - begin) / whole * room)))
    last = room if row.end is None else min(room, max(first + 1, round((row.end - begin) / whole * room)))
    mark = style.open if row.end is None else style.done
    return " " * first + mark * (last - first) + " " * (room - last)
