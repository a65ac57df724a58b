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
    """Tell whether a value counts as true: not false, zero, empty or nothing."""
    return bool(value)


def _not(*values: Any) -> bool:
    _count("not", values, 1)
    return not truth(values[0])


def _count(name: str, values: tuple[Any, ...], wanted: int) -> None:
    if len(values) != wanted:
        raise WrongNumber(f"wrong number of args for {name}: want {wanted} got {len(values)}")


class WrongNumber(CallError):
    """A function is given too many or too few values."""


def _len(*values: Any) -> int:
    _count("len", values, 1)
    if values[0] is None:
        raise CallError("len of nil pointer")
    if isinstance(values[0], str):
        return len(values[0].encode())
    if isinstance(values[0], list | dict):
        return len(values[0])
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
            if isinstance(key, bool) or not isinstance(key, int):
                raise CallError(f"cannot index slice/array with type {go_printf.type_name(key)}")
            if not 0 <= key < len(item):
                raise CallError(f"index out of range: {key}")
            item = item.encode()[key] if isinstance(item, str) else item[key]
        else:
            raise CallError(f"can't index item of type {go_printf.type_name(item)}")
    return item


def _slice(*values: Any) -> Any:
    if not values:
        raise WrongNumber("wrong number of args for slice: want at least 1 got 0")
    item, bounds = values[0], list(values[1:])
    if not isinstance(item, list | str):
        raise CallError(f"can't slice item of type {go_printf.type_name(item)}")
    if len(bounds) > 3 or (isinstance(item, str) and len(bounds) > 2):
        raise CallError(
            "cannot 3-index slice a string"
            if isinstance(item, str)
            else f"too many slice indexes: {len(bounds)}"
        )
    for bound in bounds:
        if isinstance(bound, bool) or not isinstance(bound, int):
            raise CallError(f"cannot index slice/array with type {go_printf.type_name(bound)}")
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
    if "other" in kinds:
        if kinds == {"other", "nil"}:
            return False
        raise CallError(
            "non-comparable type " + go_printf.type_name(left if _kind(left) == "other" else right)
        )
    if "nil" in kinds:
        return left is None and right is None
    if len(kinds) > 1:
        raise CallError("incompatible types for comparison")
    return left == right


def _eq(*values: Any) -> bool:
    if not values:
        raise WrongNumber("wrong number of args for eq: want at least 1 got 0")
    if len(values) == 1:
        raise CallError("missing argument for comparison")
    return any([_same(values[0], other) for other in values[1:]])


def _ne(*values: Any) -> bool:
    _count("ne", values, 2)
    return not _same(*values)


def _less(left: Any, right: Any) -> bool:
    kinds = {_kind(left), _kind(right)}
    if kinds & {"other", "nil", "bool"}:
        raise CallError("invalid type for comparison")
    if len(kinds) > 1:
        raise CallError("incompatible types for comparison")
    return left < right


def _ordered(name: str, decide: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    def function(*values: Any) -> bool:
        _count(name, values, 2)
        return decide(*values)

    return function


def _println(*values: Any) -> str:
    return " ".join(go_printf.plain(value) for value in values) + "\n"


def _printf(*values: Any) -> str:
    if not values:
        raise WrongNumber("wrong number of args for printf: want at least 1 got 0")
    if not isinstance(values[0], str):
        raise CallError(f"wrong type for value; expected string; got {go_printf.type_name(values[0])}")
    return go_printf.sprintf(values[0], list(values[1:]))


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
    return values[0] if len(values) == 1 and isinstance(values[0], str) else go_printf.join(list(values))


def _base64decode(*values: Any) -> str:
    _count("base64decode", values, 1)
    if not isinstance(values[0], str):
        raise CallError(f"wrong type for value; expected string; got {go_printf.type_name(values[0])}")
    text = values[0].replace("\n", "").replace("\r", "")
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        bad = next(
            (i for i, char in enumerate(text) if not ((char.isalnum() and char.isascii()) or char in "+/=")),
            len(text) // 4 * 4,
        )
        raise CallError(f"base64 decode: illegal base64 data at input byte {bad}") from None


def _exists(*values: Any) -> bool:
    item = values[0] if values else None
    for key in values[1:]:
        try:
            item = _index(item, key)
        except CallError:
            return False
    return item is not None


def _call(*values: Any) -> Any:
    raise CallError("call of nil" if not values or values[0] is None else "non-function argument")


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
    "lt": _ordered("lt", _less),
    "le": _ordered("le", lambda left, right: _less(left, right) or _same(left, right)),
    "gt": _ordered("gt", lambda left, right: not (_less(left, right) or _same(left, right))),
    "ge": _ordered("ge", lambda left, right: not _less(left, right)),
    "exists": _exists,
    "base64decode": _base64decode,
}
