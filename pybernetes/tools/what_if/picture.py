"""Draws how much of each node is asked for, before and after, as bars."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from pybernetes.lib.printable import printable
from pybernetes.tools.what_if.cluster import Use

MAX_ROWS = 20
_NARROW = 72  # below this only one bar fits beside a name
_MIN_BAR = 6


class Style(NamedTuple):
    """The characters of bars: used before and after, more than before, less than before, free; and colours or not."""

    both: str
    more: str
    less: str
    free: str
    colour: bool

    def paint(self, text: str, code: str) -> str:
        """Return a text in a colour, if colours are wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def style(encoding: str, colour: bool) -> Style:
    """Return the style that an encoding has characters for."""
    try:
        "█▒░·".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return Style("#", "+", "-", ".", colour)
    return Style("█", "▒", "░", "·", colour)


def share(used: int, of: int) -> float:
    """Return a part as a share of the whole; 0 if the whole is 0."""
    return used / of if of else 0.0


def cpu(use: Use | None) -> float:
    """Return which part of a node's CPU is asked for."""
    return share(use.cpu, use.allocatable_cpu) if use is not None else 0.0


def memory(use: Use | None) -> float:
    """Return which part of a node's memory is asked for."""
    return share(use.memory, use.allocatable_memory) if use is not None else 0.0


def bar(before: float, after: float, width: int, style: Style) -> str:
    """Return a bar: what stays, what comes or goes, what is free."""
    old, new = (min(width, round(part * width)) for part in (before, after))
    kept, most = min(old, new), max(old, new)
    change = (
        style.paint(style.more * (most - kept), "33")
        if new >= old
        else style.paint(style.less * (most - kept), "36")
    )
    return style.both * kept + change + style.free * (width - most)


def draw(before: dict[str, Use], after: dict[str, Use], width: int, style: Style) -> list[str]:
    """Return the lines of a picture at most ``width`` wide: nodes that change most first, then what all come to."""
    names = sorted({*before, *after})
    changed = [name for name in names if _change(before, after, name) > 0]
    shown = (
        sorted(changed, key=lambda name: (-_change(before, after, name), name))[:MAX_ROWS] or names[:MAX_ROWS]
    )
    shown.sort()
    both = width >= _NARROW
    columns: list[tuple[str, Callable[[Use | None], float]]] = [("CPU", cpu)]
    if both:
        columns.append(("MEMORY", memory))
    label = min(max(map(len, [*shown, "NODE"])), max(8, width // 4))
    figures = len(" 100 →100 %")
    size = max(_MIN_BAR, min(40, (width - label - 1) // len(columns) - figures - 1))
    if label + len(columns) * (size + figures + 1) > width:
        label = max(4, width - len(columns) * (size + figures + 1))
    lines = [f"{'NODE':<{label}} " + " ".join(f"{name:<{size + figures}}" for name, _ in columns)]
    for name in shown:
        text = printable(name)
        text = text if len(text) <= label else f"{text[: label - 1]}~"
        cells = [_cell(part(before.get(name)), part(after.get(name)), size, style) for _, part in columns]
        lines.append(f"{text:<{label}} " + " ".join(cells))
    if len(changed) > len(shown):
        lines.append(f"and {len(changed) - len(shown)} more nodes change")
    lines += [_summary(name, part, before, after, width) for name, part in columns]
    return [line.rstrip() for line in lines]


def _change(before: dict[str, Use], after: dict[str, Use], name: str) -> float:
    old, new = before.get(name), after.get(name)
    if (old is None) != (new is None):
        return 1.0 + max(cpu(old or new), memory(old or new))
    return max(abs(cpu(old) - cpu(new)), abs(memory(old) - memory(new)))


def _cell(before: float, after: float, size: int, style: Style) -> str:
    figures = (
        f"{_percent(before):>3} →{_percent(after):>3} %"
        if style.both == "█"
        else f"{_percent(before):>3} >{_percent(after):>3} %"
    )
    return f"{bar(before, after, size, style)} {figures}"


def _percent(part: float) -> int:
    return min(999, round(part * 100))


def _summary(
    name: str, part: Callable[[Use | None], float], before: dict[str, Use], after: dict[str, Use], width: int
) -> str:
    """Say how full the nodes are: on average, the fullest, and how far they are apart."""
    texts = []
    for uses in (before, after):
        shares = [part(use) for use in uses.values()]
        mean = sum(shares) / len(shares) if shares else 0.0
        spread = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares)) if shares else 0.0
        texts.append(f"mean {mean:.0%}, most {max(shares, default=0.0):.0%}, deviation {spread:.1%}")
    text = f"{name}: before {texts[0]}; after {texts[1]}"
    return text if len(text) <= width else f"{name}: after {texts[1]}"[:width]
