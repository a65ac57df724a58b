"""The steps of a JSONPath template, and what each of them selects from the values before it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple

from pybernetes.api.jsonpath.comparison import JsonPathError, compare
from pybernetes.api.text import go_printf

# What a step may select: a few steps that each go everywhere would otherwise select more than memory holds.
MOST_VALUES = 100_000


class Loops:
    """The words ``range`` and ``end`` that a run has met and not yet followed, and the ranges that it is in."""

    def __init__(self) -> None:
        self.begins = self.ends = self.open = 0


class Step(ABC):
    """A part of an action."""

    @abstractmethod
    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        """Return what this step selects from the values that the steps before it selected."""


class Action(NamedTuple):
    """What stands between braces: steps one after another."""

    steps: tuple[Step, ...]

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        """Return what the steps select from values."""
        for step in self.steps:
            values = step.select(values, loops)
        return values


class Text(Step):
    """Text, outside of braces or in quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        return [self.text]


class Literal(Step):
    """A number or a truth value."""

    def __init__(self, value: float | bool) -> None:
        self.value = value

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        return [self.value] * len(values)


class Word(Step):
    """``range``: what follows is repeated for each of the values, until ``end``."""

    def __init__(self, word: str) -> None:
        self.word = word

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        if self.word == "range":
            loops.begins += 1
            return values
        if self.word != "end":
            raise JsonPathError(f"unrecognized identifier {self.word}", values)
        if not loops.open:
            raise JsonPathError("not in range, nothing to end")
        loops.ends += 1
        return []


class Field(Step):
    """``.name``: a field of an object."""

    def __init__(self, name: str, allow_missing: bool) -> None:
        self.name, self.allow_missing = name, allow_missing

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        name = self.name
        selected = [value[name] for value in values if isinstance(value, dict) and name in value]
        if not selected and values and not self.allow_missing:
            raise JsonPathError(f"{name} is not found")
        return selected


class Wildcard(Step):
    """``*``: every field or item, of a text the bytes."""

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        return _joined(
            list(value.encode()) if isinstance(value, str) else _children(value) for value in values
        )


class Recursive(Step):
    """``..``: the value and everything in it that has something in it: objects, lists and texts."""

    def __init__(self, once: bool = False) -> None:
        self._once = once  # nothing is selected twice, however many of the values it is in

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        if self._once:
            return _descendants(values)
        return _joined(_descendants([value]) for value in values)


class Union(Step):
    """``[a,b]``: what several actions select."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self.actions = actions

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        try:
            return _joined(action.select(values, loops) for action in self.actions)
        except JsonPathError as error:
            raise JsonPathError(str(error), values) from None


class Slice(Step):
    """``[1:3]``: some items of a list, counted from its end if negative; ``[*]`` is all of them, ``[1]`` one."""

    def __init__(self, first: int | None = None, last: int | None = None, step: int | None = None) -> None:
        self.first, self.last, self.step = first or 0, last, step

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        selected: list[Any] = []
        for value in values:
            if value is None:
                continue
            try:
                some = self._some(value)
            except JsonPathError as error:
                raise JsonPathError(str(error), values) from None
            if some is None:
                break
            selected += some
        return selected

    def _bounds(self, size: int) -> tuple[int, int]:
        last = size if self.last is None else self.last
        return self.first + size if self.first < 0 else self.first, last + size if last < 0 else last

    def _some(self, value: Any) -> list[Any] | None:
        """Return the items of a list, or None if the slice is empty, which ends the step."""
        if not isinstance(value, list):
            raise JsonPathError(f"{go_printf.type_name(value)} is not array or slice")
        size = len(value)
        first, last = self._bounds(size)
        if first == last:
            return None
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

    def __init__(self, left: Action, comparison: str = "", right: Action | None = None) -> None:
        self.left, self.comparison, self.right = left, comparison, right

    def select(self, values: list[Any], loops: Loops) -> list[Any]:
        selected: list[Any] = []
        for value in values:
            if not isinstance(value, list):
                raise JsonPathError(
                    f"{go_printf.plain(value)} is not array or slice and cannot be filtered", values
                )
            for item in value:
                try:
                    if self._matches(item, loops):
                        selected.append(item)
                except JsonPathError as error:
                    raise JsonPathError(str(error), values) from None
        return selected

    def _matches(self, item: Any, loops: Loops) -> bool:
        try:
            left = self.left.select([item], loops)
        except JsonPathError as error:
            if self.right is None:
                return bool(error.values)  # as upstream: where looking failed, something was there
            raise
        if self.right is None or not left:
            return bool(left)
        if len(left) > 1:
            raise JsonPathError("can only compare one element at a time")
        right = self.right.select([item], loops)
        if len(right) > 1:
            raise JsonPathError("can only compare one element at a time")
        return bool(right) and compare(left[0], right[0], self.comparison)


def _joined(parts: Iterable[list[Any]]) -> list[Any]:
    joined: list[Any] = []
    for part in parts:
        joined += part
        if len(joined) > MOST_VALUES:
            raise JsonPathError(f"more than {MOST_VALUES} values are selected")
    return joined


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, list) else []


def _descendants(values: list[Any]) -> list[Any]:
    """Return what is not empty among values and in them, objects and lists once, and before what is in them."""
    seen: set[int] = set()
    descendants: list[Any] = []
    rest = values[::-1]
    while rest:
        value = rest.pop()
        if not isinstance(value, dict | list | str) or not value:
            continue
        if not isinstance(value, str):
            if id(value) in seen:
                continue
            seen.add(id(value))
            rest += reversed(_children(value))
        descendants.append(value)
    return descendants
