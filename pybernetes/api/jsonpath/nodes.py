"""The parts of a JSONPath template, and what each of them selects from the values before it."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pybernetes.api.text import go_printf

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip

# What a step may select: a few steps that each go everywhere would otherwise select more than memory holds.
_MOST_VALUES = 100_000


class JsonPathError(ValueError):
    """The text is not a template, or does not fit the value; the words are those of client-go."""


class MissingFieldError(JsonPathError):
    """The value does not have a field, and missing fields are not allowed."""


class Step(ABC):
    """A part of a path."""

    @abstractmethod
    def select(self, values: list[Any], root: Any) -> list[Any]:
        """Return what this step selects from the values that the steps before it selected.

        ``root`` is the value that the whole template runs on.
        """


class Path(NamedTuple):
    """An expression: steps one after another."""

    steps: tuple[Step, ...]

    def select(self, value: Any, root: Any) -> list[Any]:
        """Return what the steps select from a value."""
        values = [value]
        for step in self.steps:
            values = step.select(values, root)
        return values


class Text(NamedTuple):
    """Text outside of braces."""

    text: str


class Range(NamedTuple):
    """What stands between ``range`` and ``end``; it is repeated for each value of a path."""

    path: Path
    body: tuple[Path | Text | Range, ...]


Part = Path | Text | Range


def select_all(parts: tuple[Part, ...], value: Any, root: Any) -> list[list[Any]]:
    """Return the values of each part of a template."""
    results: list[list[Any]] = []
    for part in parts:
        if isinstance(part, Path):
            results.append(part.select(value, root))
        elif isinstance(part, Text):
            results.append([part.text])
        else:
            for item in part.path.select(value, root):
                results += select_all(part.body, item, root)
    return results


class Literal(Step):
    """A text, a number or a truth value."""

    def __init__(self, value: str | float | bool) -> None:
        self.value = value

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return [self.value]


class Root(Step):
    """``$``: the whole value."""

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return [root]


class Current(Step):
    """``@``: the value that the path starts from."""

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return values


class Field(Step):
    """``.name``: a field of an object."""

    def __init__(self, name: str, allow_missing: bool) -> None:
        self.name, self.allow_missing = name, allow_missing

    def select(self, values: list[Any], root: Any) -> list[Any]:
        name = self.name
        selected = [value[name] for value in values if isinstance(value, dict) and name in value]
        if not selected and not self.allow_missing:
            raise MissingFieldError(f"{name} is not found")
        return selected


class Wildcard(Step):
    """``*``: every field or item."""

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return _joined(_children(value) for value in values)


class Recursive(Step):
    """``..``: the value, and every object and list in it."""

    def __init__(self, once: bool = False) -> None:
        self._once = once  # nothing is selected twice, however many of the values it is in

    def select(self, values: list[Any], root: Any) -> list[Any]:
        if self._once:
            return _descendants(values)
        return _joined(_descendants([value]) for value in values)


class Union(Step):
    """``[a,b]``: what several steps select."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self.steps = steps

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return _joined(step.select(values, root) for step in self.steps)


class Slice(Step):
    """``[1:3]``: some items of a list, counted from its end if negative; ``[*]`` is all of them, ``[1]`` one."""

    def __init__(self, first: int | None = None, last: int | None = None, step: int | None = None) -> None:
        self.first, self.last, self.step = first or 0, last, step

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return [item for value in values if value is not None for item in self._some(value)]

    def _bounds(self, size: int) -> tuple[int, int]:
        last = size if self.last is None else self.last
        return self.first + size if self.first < 0 else self.first, last + size if last < 0 else last

    def _some(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise JsonPathError(f"{go_printf.type_name(value)} is not array or slice")
        size = len(value)
        first, last = self._bounds(size)
        if first == last:
            return []
        for index, inside in ((first, 0 <= first < size), (last - 1, 0 <= last <= size)):
            if not inside:
                raise JsonPathError(f"array index out of bounds: index {index}, length {size}")
        if first > last:
            raise JsonPathError(f"starting index {first} is greater than ending index {last}")
        if self.step is not None and self.step <= 0:
            raise JsonPathError("step must be > 0")
        return value[first : last : self.step]


class Index(Slice):
    """``[1]``: one item of a list; a missing one is an error."""

    def _bounds(self, size: int) -> tuple[int, int]:
        first = super()._bounds(size)[0]
        return first, first + 1


class Filter(Step):
    """``[?(left == right)]``: the items for which a comparison holds, or for which ``left`` selects something."""

    def __init__(self, left: tuple[Part, ...], comparison: str = "", right: tuple[Part, ...] = ()) -> None:
        self.left, self.comparison, self.right = left, comparison, right

    def select(self, values: list[Any], root: Any) -> list[Any]:
        return [item for value in values for item in _filtered(value) if self._matches(item, root)]

    def _matches(self, item: Any, root: Any) -> bool:
        left = _flat(self.left, item, root)
        if not self.comparison:
            return bool(left)
        right = _flat(self.right, item, root)
        if not left or not right:
            return False
        if len(left) > 1 or len(right) > 1:
            raise JsonPathError("can only compare one element at a time")
        return _compare(left[0], right[0], self.comparison)


def _compare(left: Any, right: Any, comparison: str) -> bool:
    """Compare two values; a number, a text and anything else never match one another."""
    if type(left) is not type(right) and (
        _is_number(left) != _is_number(right) or isinstance(left, str) != isinstance(right, str)
    ):
        return False
    try:
        return bool(COMPARISONS[comparison](left, right))
    except TypeError:
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flat(parts: tuple[Part, ...], item: Any, root: Any) -> list[Any]:
    try:
        if len(parts) == 1 and isinstance(parts[0], Path):
            return parts[0].select(item, root)
        return [value for values in select_all(parts, item, root) for value in values]
    except MissingFieldError:
        return []


def _filtered(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if value is None:
        return []
    raise JsonPathError(f"{go_printf.plain(value)} is not array or slice and cannot be filtered")


def _joined(parts: Iterable[list[Any]]) -> list[Any]:
    joined: list[Any] = []
    for part in parts:
        joined += part
        if len(joined) > _MOST_VALUES:
            raise JsonPathError(f"more than {_MOST_VALUES} values are selected")
    return joined


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, list) else []


def _descendants(values: list[Any]) -> list[Any]:
    """Return the objects and lists among values and in them, each once and before what is in it."""
    inner: dict[int, Any] = {}
    rest = values[::-1]
    while rest:
        value = rest.pop()
        if isinstance(value, dict | list) and id(value) not in inner:
            inner[id(value)] = value
            rest += reversed(_children(value))
    return list(inner.values())
