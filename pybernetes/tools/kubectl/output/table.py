"""Prints tables: columns that line up, and the tables that the server makes."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import escaped
from pybernetes.tools.kubectl.output.go_value import go_value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.command_line.flags import Values


def columns(rows: Iterable[list[str]], *, gap: int = 3, minimum: int = 6) -> str:
    """Return lines of cells; every cell but the last of a line is padded to the width of its column."""
    lines = list(rows)
    widths: list[int] = []
    for cells in lines:
        for index, cell in enumerate(cells[:-1]):
            size = max(len(cell) + gap, minimum)
            if index == len(widths):
                widths.append(size)
            elif size > widths[index]:
                widths[index] = size
    return "".join(_line(cells, widths) for cells in lines)


def _line(cells: list[str], widths: list[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=False)]
    return "".join(padded) + (cells[-1] if cells else "") + "\n"


def clean(cell: Any) -> str:
    """Return a cell as one line."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        for mark in "\f\n\r":
            if mark in cell:
                places = [place for place in map(cell.find, "\f\n\r") if place >= 0]
                return escaped(cell[: min(places)]) + "..."
        return escaped(cell)
    return go_value(cell, clean)


class TablePrinter:
    """Prints the server's tables; headings once, until the columns change."""

    def __init__(self, flags: Values, *, kind: str = "", with_namespace: bool = False) -> None:
        self.wide = flags.output == "wide"
        self.no_headers = flags.no_headers
        self.show_labels = flags.show_labels
        self.label_columns = flags.label_columns
        self.kind, self.with_namespace = kind, with_namespace
        self._last: list[Object] = []
        self._printed = False

    def rows(self, table: Object, event: str = "") -> list[list[str]]:
        """Return the lines of a table, with the headings if they are due."""
        definitions = table.get("columnDefinitions") or self._last
        if definitions != self._last:
            self._last, self._printed = definitions, False
        shown = [
            index
            for index, definition in enumerate(definitions)
            if self.wide or not definition.get("priority")
        ]
        lines = []
        rows = table.get("rows") or []
        if not self._printed and not self.no_headers and rows:
            lines.append(self._headers([definitions[index]["name"] for index in shown], event))
        self._printed = self._printed or bool(rows)
        named = next(
            (
                index
                for index, definition in enumerate(definitions)
                if definition.get("format") == "name" and definition.get("type") == "string"
            ),
            -1,
        )
        for row in rows:
            lines.append(self._row(row, shown, named, event))
        return lines

    def _headers(self, names: list[str], event: str) -> list[str]:
        cells = ["EVENT"] if event else []
        if self.with_namespace:
            cells.append("NAMESPACE")
        cells += [clean(name).upper() for name in names]
        cells += [label.rpartition("/")[2].upper() for label in self.label_columns]
        return cells + (["LABELS"] if self.show_labels else [])

    def _row(self, row: Object, shown: list[int], named: int, event: str) -> list[str]:
        cells = row.get("cells") or []
        texts = [
            (f"{self.kind}/{clean(cells[index])}" if self.kind and index == named else clean(cells[index]))
            for index in shown
            if index < len(cells)
        ]
        line = [f"{event:<8}"] if event else []
        if not (self.with_namespace or self.label_columns or self.show_labels):
            return line + texts
        metadata = (row.get("object") or {}).get("metadata") or {}
        labels = metadata.get("labels") or {}
        if self.with_namespace:
            line.append(clean(metadata.get("namespace")))
        line += texts
        line += [clean(labels.get(label)) for label in self.label_columns]
        if self.show_labels:
            from pybernetes.tools.kubectl.resources.label_selector import show_map

            line.append(clean(show_map(labels)) or "<none>")
        return line
