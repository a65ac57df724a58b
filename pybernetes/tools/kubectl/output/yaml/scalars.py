"""What YAML makes of a text without quotes, and the order of keys, as in the library that the original uses."""

from __future__ import annotations

import re
from functools import cmp_to_key

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORDS = frozenset({
    "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On",
    "ON", "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", ".nan", ".NaN",
    ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<",
})  # fmt: skip
_NUMBER = re.compile(
    r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)\Z"
)
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([Tt ]+\d{1,2}:\d{1,2}:\d{1,2}(\.\d*)?( *(Z|[-+]\d{1,2}(:?\d{2})?))?)?\Z"
)


def is_ambiguous(value: str) -> bool:
    """Return whether the text, without quotes, would be something other than a text."""
    if value in _WORDS:
        return True
    if value[0] not in "+-.0123456789":
        return False
    return bool(_NUMBER.match(value) or _SEXAGESIMAL.match(value) or _TIME.match(value))


def ordered(keys: Iterable[str]) -> list[str]:
    """Return keys in the order in which they are printed."""
    in_order = sorted(keys)
    letters = "".join(in_order)
    # The long way is only for keys with something other than letters in them.
    return in_order if letters.isalpha() and letters.isascii() else sorted(in_order, key=_order)


def _compare(left: str, right: str) -> int:
    """Compare two keys: numbers in them count as numbers, letters come last."""
    digits = False
    for place in range(min(len(left), len(right))):
        here, other = left[place], right[place]
        if here == other:
            digits = here.isdigit()
            continue
        letters = here.isalpha(), other.isalpha()
        if all(letters):
            return -1 if here < other else 1
        if any(letters):
            first = letters[0] if digits else letters[1]
            return -1 if first else 1
        ours, ends = _number(left, place)
        theirs, end = _number(right, place)
        if (here == "0" or other == "0") and _digits_before(left, place):
            ours, theirs = int(f"1{ours:0{ends}d}") if ends else 1, int(f"1{theirs:0{end}d}") if end else 1
        if ours != theirs:
            return -1 if ours < theirs else 1
        if ends != end:
            return -1 if ends < end else 1
        return -1 if here < other else 1
    return len(left) - len(right)


def _number(text: str, place: int) -> tuple[int, int]:
    end = place
    while end < len(text) and text[end].isdigit():
        end += 1
    return (int(text[place:end]) if end > place else 0), end - place


def _digits_before(text: str, place: int) -> bool:
    while place and text[place - 1].isdigit():
        place -= 1
        if text[place] != "0":
            return True
    return False


_order = cmp_to_key(_compare)


def go_float(number: float) -> str:
    """Return a number in Go's shortest form, which has an exponent from a million on."""
    if number != number or number in (float("inf"), float("-inf")):
        return "NaN" if number != number else "+Inf" if number > 0 else "-Inf"
    from decimal import Decimal

    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    power = len(digits) - 1 + exponent
    text = "".join(map(str, digits))
    minus = "-" if sign else ""
    if number and not -4 <= power < 6:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        return f"{minus}{text[0]}{fraction}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return minus + format(abs(Decimal(repr(number)).normalize()), "f")


def json_number(number: float) -> str:
    """Return a number as it is after it was JSON: whole ones of 64 bits have no exponent."""
    if number.is_integer() and -(2**63) <= number < 2**64:
        return str(int(number))
    return go_float(number)
