"""Columns of numbers, one row per node: how labels, taints and images become arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pybernetes.api.selectors import Requirement

Bools = NDArray[np.bool_]
Ints = NDArray[Any]
Floats = NDArray[np.float64]
# All rows as a slice, one row as a slice of length one, or some rows as an array of their numbers.
Rows = slice | Ints
Value = TypeVar("Value", bound=Hashable)
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")


def grown(column: NDArray[Any], capacity: int) -> NDArray[Any]:
    """Return a copy of a column (or of columns one above the other) with room for more rows."""
    result = np.zeros((*column.shape[:-1], capacity), dtype=column.dtype)
    result[..., : column.shape[-1]] = column
    return result


class Journal:
    """Which rows changed, in order, so that a reader only has to look at those since its last visit."""

    LIMIT = 16_384

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._dropped = 0

    @property
    def position(self) -> int:
        """Where the journal ends."""
        return self._dropped + len(self._rows)

    def note(self, row: int) -> None:
        """Note that a row has changed."""
        self._rows.append(row)
        if len(self._rows) > self.LIMIT:
            del self._rows[: self.LIMIT // 2]
            self._dropped += self.LIMIT // 2

    def since(self, position: int) -> list[int] | None:
        """Return the rows that changed since a position, or None if that is too long ago to know."""
        if position < self._dropped:
            return None
        return self._rows[position - self._dropped :]


class ValueColumn(Generic[Value]):
    """A column of values that many nodes share: the column holds codes, a list holds the values."""

    def __init__(self, capacity: int, first: Value) -> None:
        self.codes: Ints = np.zeros(capacity, dtype=np.int32)
        self.values: list[Value] = [first]
        self.ids: dict[Value, int] = {first: 0}

    def set(self, row: int, value: Value) -> None:
        """Give a row its value."""
        number = self.ids.get(value)
        if number is None:
            if len(self.values) > 2 * len(self.codes):
                self._compact()
            number = self.ids[value] = len(self.values)
            self.values.append(value)
        self.codes[row] = number

    def _compact(self) -> None:
        """Forget the values that no row has any more; the first stays."""
        used = np.unique(np.append(self.codes, 0))
        numbers = np.zeros(len(self.values), dtype=np.int32)
        numbers[used] = np.arange(len(used))
        self.values = [self.values[number] for number in used]
        self.ids = {value: number for number, value in enumerate(self.values)}
        self.codes = numbers[self.codes]

    def lookup(self, function: Callable[[Value], Any], dtype: Any) -> NDArray[Any]:
        """Return a table of a function's result for each value; ``table[codes]`` is the column of results."""
        return np.fromiter((function(value) for value in self.values), dtype=dtype, count=len(self.values))


class LabelColumn(ValueColumn["str | None"]):
    """The values of one node label; number 0 stands for nodes without it."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity, None)

    def matching(self, requirement: Requirement, rows: Rows) -> Bools:
        """Return which of the rows meet a condition on this label."""
        codes = self.codes[rows]
        match requirement.operator:
            case "exists":
                return codes != 0
            case "!":
                return codes == 0
            case "in" | "notin":
                wanted = [self.ids[value] for value in requirement.values if value in self.ids]
                if len(wanted) == 1:
                    matches = codes == wanted[0]
                else:
                    table = np.zeros(len(self.values), dtype=np.bool_)
                    table[wanted] = True
                    matches = table[codes]
                return matches if requirement.operator == "in" else ~matches
        limit = _integer(requirement.values[0] if requirement.values else None)
        more = requirement.operator == "gt"

        def compare(value: str | None) -> bool:
            number = _integer(value)
            if number is None or limit is None:
                return False
            return number > limit if more else number < limit

        return self.lookup(compare, np.bool_)[codes]


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _INTEGER.match(text) else None


class LabelColumns:
    """A column for every label that somebody has asked for, made when it is first asked for."""

    LIMIT = 1_000  # labels that were asked for once must not stay for good

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._columns: dict[str, LabelColumn] = {}

    def get(self, key: str, labels: Iterable[tuple[int, Mapping[str, str]]]) -> LabelColumn:
        """Return the column of a label; ``labels``, the labels of every row, are read when it is new."""
        column = self._columns.get(key)
        if column is None:
            if len(self._columns) >= self.LIMIT:
                self._columns.clear()
            column = self._columns[key] = LabelColumn(self._capacity)
            for row, node_labels in labels:
                column.set(row, node_labels.get(key))
        return column

    def set(self, row: int, labels: Mapping[str, str]) -> None:
        """Set the labels of a row."""
        for key, column in self._columns.items():
            column.set(row, labels.get(key))

    def grow(self, capacity: int) -> None:
        """Make room for more rows."""
        self._capacity = capacity
        for column in self._columns.values():
            column.codes = grown(column.codes, capacity)
