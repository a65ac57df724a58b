"""Elastic columns: a tab ends a cell; cells in lines that follow one another are as wide as the widest of them."""

from __future__ import annotations


def align(text: str, *, minimum: int = 0, gap: int = 2) -> str:
    """Return the text with its cells padded."""
    lines = [line.split("\t") for line in text.split("\n")]
    out: list[str] = []
    _block(lines, 0, len(lines), [], out, minimum, gap)
    return "\n".join(out)


def _block(
    lines: list[list[str]], first: int, last: int, widths: list[int], out: list[str], minimum: int, gap: int
) -> None:
    column = len(widths)
    place = first
    while place < last:
        if column >= len(lines[place]) - 1:
            place += 1
            continue
        out.extend(_padded(line, widths) for line in lines[first:place])
        first = place
        width = minimum
        while place < last and column < len(lines[place]) - 1:
            width = max(width, len(lines[place][column]) + gap)
            place += 1
        _block(lines, first, place, [*widths, width], out, minimum, gap)
        first = place
    out.extend(_padded(line, widths) for line in lines[first:last])


def _padded(cells: list[str], widths: list[int]) -> str:
    return "".join(
        cell.ljust(widths[place]) if place < len(widths) else cell for place, cell in enumerate(cells)
    )
