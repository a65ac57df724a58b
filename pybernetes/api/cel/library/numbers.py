"""Quantities and semantic versions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.runtime import Failure

LIBRARY = Library()
_method, _function = LIBRARY.method, LIBRARY.function


class Quantity:
    """An amount."""

    cel_name = "kubernetes.Quantity"
    __slots__ = ("value",)

    def __init__(self, value: Fraction) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


def _quantity(text: str) -> Quantity:
    try:
        if text != text.strip():
            raise quantity.QuantityError(quantity.FORMAT_ERROR)
        return Quantity(quantity.parse(text))
    except quantity.QuantityError as error:
        raise Failure(str(error)) from None


def _works(parse: Any) -> Any:
    def check(*args: Any) -> bool:
        try:
            parse(*args)
        except Failure:
            return False
        return True

    return check


def _fits(amount: Quantity) -> bool:
    return amount.value.denominator == 1 and -(2**63) <= amount.value < 2**63


def _integer(amount: Quantity) -> int:
    if not _fits(amount):
        raise Failure("cannot convert value to integer")
    return int(amount.value)


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


_Q = "kubernetes.Quantity"
_function("quantity", "string_to_quantity", f"string -> {_Q}", _quantity)
_function("isQuantity", "is_quantity_string", "string -> bool", _works(_quantity))
_method("sign", "quantity_sign", f"{_Q} -> int", lambda q: _compare(q.value, 0))
_function("sign", "quantity_sign_function", f"{_Q} -> int", lambda q: _compare(q.value, 0))
_method("isGreaterThan", "quantity_is_greater_than", f"{_Q} {_Q} -> bool", lambda a, b: a.value > b.value)
_method("isLessThan", "quantity_is_less_than", f"{_Q} {_Q} -> bool", lambda a, b: a.value < b.value)
_method("compareTo", "quantity_compare_to", f"{_Q} {_Q} -> int", lambda a, b: _compare(a.value, b.value))
_method("asApproximateFloat", "quantity_get_float", f"{_Q} -> double", lambda q: float(q.value))
_method("asInteger", "quantity_get_int", f"{_Q} -> int", _integer)
_method("isInteger", "quantity_is_integer", f"{_Q} -> bool", _fits)
_method("add", "quantity_add", f"{_Q} {_Q} -> {_Q}", lambda a, b: Quantity(a.value + b.value))
_method("add", "quantity_add_int", f"{_Q} int -> {_Q}", lambda a, b: Quantity(a.value + b))
_method("sub", "quantity_sub", f"{_Q} {_Q} -> {_Q}", lambda a, b: Quantity(a.value - b.value))
_method("sub", "quantity_sub_int", f"{_Q} int -> {_Q}", lambda a, b: Quantity(a.value - b))

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)


class Semver:
    """A semantic version."""

    cel_name = "kubernetes.Semver"
    __slots__ = ("key", "numbers")

    def __init__(self, numbers: tuple[int, int, int], pre: str) -> None:
        self.numbers = numbers
        parts = (
            [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".")] if pre else []
        )
        # What comes before a release is less than it.
        self.key = (numbers, not pre, parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.key == other.key

    def __hash__(self) -> int:
        return hash(str(self.key))


def _semver(text: str, normalize: bool = False) -> Semver:
    if normalize:
        text = _normalized(text)
    match = _SEMVER.fullmatch(text)
    if match is None:
        raise Failure(_no_version(text))
    return Semver((int(match[1]), int(match[2]), int(match[3])), match[4] or "")


def _no_version(text: str) -> str:
    if not text:
        return "Version string empty"
    if text.count(".") < 2:
        return "No Major.Minor.Patch elements found"
    return f'Invalid character(s) found in version "{text}"'


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            part = part.lstrip("0")
            parts[index] = part if part[:1].isdigit() else "0" + part
    if len(parts) < 3:
        if any(char in parts[-1] for char in "+-"):
            raise Failure("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


_S = "kubernetes.Semver"
_function("semver", "string_to_semver", f"string -> {_S}", _semver)
_function("semver", "string_bool_to_semver", f"string bool -> {_S}", _semver)
_function("isSemver", "is_semver_string", "string -> bool", _works(_semver))
_function("isSemver", "is_semver_string_bool", "string bool -> bool", _works(_semver))
_method("isGreaterThan", "semver_is_greater_than", f"{_S} {_S} -> bool", lambda a, b: a.key > b.key)
_method("isLessThan", "semver_is_less_than", f"{_S} {_S} -> bool", lambda a, b: a.key < b.key)
_method("compareTo", "semver_compare_to", f"{_S} {_S} -> int", lambda a, b: _compare(a.key, b.key))
for _index, _name in enumerate(("major", "minor", "patch")):
    _method(_name, f"semver_{_name}", f"{_S} -> int", lambda version, index=_index: version.numbers[index])
