"""The functions of templates: those of text/template, and kubectl's own exists and base64decode."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from urllib.parse import quote_plus

from pybernetes.api.text import go_printf
from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class CallError(ValueError):
    """A function cannot do what it is asked for."""


def truth(value: Any) -> bool:
    """Return whether a value counts as true: not false, zero, empty or nothing."""
    return bool(value)


def _not(*values: Any) -> bool:
    return not truth(values[0])


class WrongNumber(CallError):
    """A function is given too many or too few values."""


class WrongType(CallError):
    """The first value of a function is not the text that it must be."""


class NotFunction(CallError):
    """What is to be called is no function."""


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        raise WrongType("invalid value; expected string")
    raise WrongType(f"wrong type for value; expected string; got {go_printf.type_name(value)}")


def _len(*values: Any) -> int:
    if values[0] is None:
        raise CallError("reflect: call of reflect.Value.Type on zero Value")
    if isinstance(values[0], str):
        return go_printf.GoInt(len(values[0].encode()))
    if isinstance(values[0], list | dict):
        return go_printf.GoInt(len(values[0]))
    raise CallError(f"len of type {go_printf.type_name(values[0])}")


def _index(*values: Any) -> Any:
    if not values:
        raise WrongNumber("wrong number of args for index: want at least 1 got 0")
    item = values[0]
    if item is None:
        raise CallError("index of untyped nil")
    for key in values[1:]:
        if item is None:
            raise CallError("index of untyped nil")
        if isinstance(item, dict):
            if not isinstance(key, str):
                raise CallError(f"value has type {go_printf.type_name(key)}; should be string")
            item = item.get(key)
        elif isinstance(item, list | str):
            _check_index(key)
            if key == len(item):
                kind = "string" if isinstance(item, str) else "slice"
                raise CallError(f"reflect: {kind} index out of range")
            if not 0 <= key < len(item):
                raise CallError(f"index out of range: {key}")
            item = item.encode()[key] if isinstance(item, str) else item[key]
        else:
            raise CallError(f"can't index item of type {go_printf.type_name(item)}")
    return item


def _check_index(key: Any) -> None:
    if key is None:
        raise CallError("cannot index slice/array with nil")
    if isinstance(key, bool) or not isinstance(key, int):
        raise CallError(f"cannot index slice/array with type {go_printf.type_name(key)}")


def _slice(*values: Any) -> Any:
    if not values:
        raise WrongNumber("wrong number of args for slice: want at least 1 got 0")
    item, bounds = values[0], list(values[1:])
    if item is None:
        raise CallError("slice of untyped nil")
    if not isinstance(item, list | str):
        raise CallError(f"can't slice item of type {go_printf.type_name(item)}")
    if len(bounds) > 3 or (isinstance(item, str) and len(bounds) > 2):
        raise CallError(
            "cannot 3-index slice a string"
            if isinstance(item, str)
            else f"too many slice indexes: {len(bounds)}"
        )
    for bound in bounds:
        _check_index(bound)
        if not 0 <= bound <= len(item):
            raise CallError(f"index out of range: {bound}")
    first = bounds[0] if bounds else 0
    last = bounds[1] if len(bounds) > 1 else len(item)
    if first > last:
        raise CallError(f"invalid slice index: {first} > {last}")
    return item[first:last]


def _kind(value: Any) -> str:
    if value is None:
        return "nil"
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "other"


def _same(left: Any, right: Any) -> bool:
    kinds = {_kind(left), _kind(right)}
    if "nil" in kinds:
        return left is None and right is None
    if len(kinds) > 1:
        raise _incompatible(left, right)
    if "other" in kinds:
        raise CallError(f"non-comparable type {go_printf.plain(right)}: {go_printf.type_name(right)}")
    return bool(left == right)


def _incompatible(left: Any, right: Any) -> CallError:
    types = (go_printf.type_name(value) for value in (left, right))
    return CallError("incompatible types for comparison: " + " and ".join(types))


def _eq(*values: Any) -> bool:
    if not values:
        raise WrongNumber("wrong number of args for eq: want at least 1 got 0")
    if len(values) == 1:
        raise CallError("missing argument for comparison")
    return any([_same(values[0], other) for other in values[1:]])


def _ne(*values: Any) -> bool:
    return not _same(*values)


def _less(left: Any, right: Any) -> bool:
    kinds = {_kind(left), _kind(right)}
    if kinds & {"other", "nil"}:
        raise CallError("invalid type for comparison")
    if len(kinds) > 1:
        raise _incompatible(left, right)
    if "bool" in kinds:
        raise CallError("invalid type for comparison")
    return bool(left < right)


def _println(*values: Any) -> str:
    return " ".join(go_printf.plain(value) for value in values) + "\n"


def _printf(*values: Any) -> str:
    if not values:
        raise WrongNumber("wrong number of args for printf: want at least 1 got 0")
    return go_printf.sprintf(_string(values[0]), list(values[1:]))


def _html(*values: Any) -> str:
    marks: dict[str, str | int | None] = {
        '"': "&#34;",
        "'": "&#39;",
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        "\0": "\ufffd",
    }
    return _text(values).translate(str.maketrans(marks))


def _js(*values: Any) -> str:
    marks = {
        "\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D",
    }  # fmt: skip
    return "".join(
        marks.get(char) or (char if char.isprintable() else f"\\u{ord(char):04X}") for char in _text(values)
    )


def _urlquery(*values: Any) -> str:
    return quote_plus(_text(values), safe="")


def _text(values: tuple[Any, ...]) -> str:
    return go_printf.join(["<no value>" if value is None else value for value in values])


def _base64decode(*values: Any) -> str:
    text = _string(values[0]).replace("\n", "").replace("\r", "")
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        bad = next(
            (i for i, char in enumerate(text) if not ((char.isalnum() and char.isascii()) or char in "+/=")),
            len(text) // 4 * 4,
        )
        raise CallError(f"base64 decode failed: illegal base64 data at input byte {bad}") from None


def _exists(*values: Any) -> bool:
    item = values[0] if values else None
    for key in values[1:]:
        try:
            item = _index(item, key)
        except CallError:
            return False
    return item is not None


def _call(*values: Any) -> Any:
    if not values or values[0] is None:
        raise CallError("call of nil")
    raise NotFunction(f"of type {go_printf.type_name(values[0])}")


# Of how many values those functions are that do not take any number of them.
ARGUMENTS = {"not": 1, "len": 1, "base64decode": 1, "ne": 2, "lt": 2, "le": 2, "gt": 2, "ge": 2}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "not": _not,
    "len": _len,
    "index": _index,
    "slice": _slice,
    "print": lambda *values: go_printf.join(list(values)),
    "println": _println,
    "printf": _printf,
    "html": _html,
    "js": _js,
    "urlquery": _urlquery,
    "call": _call,
    "eq": _eq,
    "ne": _ne,
    "lt": _less,
    "le": lambda left, right: _less(left, right) or _same(left, right),
    "gt": lambda left, right: not (_less(left, right) or _same(left, right)),
    "ge": lambda left, right: not _less(left, right),
    "exists": _exists,
    "base64decode": _base64decode,
}
