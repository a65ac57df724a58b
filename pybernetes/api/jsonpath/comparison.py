"""How the filters of JSONPath compare two values."""

from __future__ import annotations

from typing import Any


class JsonPathError(ValueError):
    """The text is not a template, or does not fit the value; the words are those of client-go.

    ``values`` are those that had been selected: a filter that asks whether there is something takes them for an answer.
    """

    def __init__(self, message: str, values: list[Any] | None = None) -> None:
        super().__init__(message)
        self.values = values or []


def compare(left: Any, right: Any, comparison: str) -> bool:
    """Compare two values; JsonPathError if their types cannot be compared."""
    if comparison == "!=":
        return not _equal(left, right)
    if comparison == "==":
        return _equal(left, right)
    if comparison not in ("<", "<=", ">", ">="):
        raise JsonPathError(f"unrecognized filter operator {comparison}")
    less = _less(left, right)
    if comparison == "<":
        return less
    if comparison == ">=":
        return not less
    return (less or _equal(left, right)) == (comparison == "<=")


def _equal(left: Any, right: Any) -> bool:
    _kind(left, right)
    return bool(left == right)


def _less(left: Any, right: Any) -> bool:
    if _kind(left, right) is bool:
        raise JsonPathError("invalid type for comparison")
    return bool(left < right)


def _kind(left: Any, right: Any) -> type:
    """Return the type of both values; an integer and a number with a fraction are not alike."""
    kinds = (type(left), type(right))
    for kind in kinds:
        if kind not in (bool, int, float, str):
            raise JsonPathError("invalid type for comparison")
    if kinds[0] is not kinds[1]:
        raise JsonPathError("incompatible types for comparison")
    return kinds[0]
