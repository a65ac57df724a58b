"""What a plain scalar is, by the rules of the original's YAML library (version 3 of go-yaml)."""

from __future__ import annotations

import math
import re

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_WORDS: dict[str, tuple[str, Any]] = {
    **dict.fromkeys(("true", "True", "TRUE"), ("!!bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("!!bool", False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("!!null", None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("!!float", math.nan)),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ("!!float", math.inf)),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("!!float", -math.inf)),
}
_WORDS_1_1 = (
    frozenset(
        ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"]
    )
    | _WORDS.keys()
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))\Z")
_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:(?:[Tt]|[ \t]+)(\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d+)?[ \t]*(Z|[-+]\d{1,2}(?::?\d{2})?)?)?\Z"
)
_FIRST = frozenset("+-0123456789.tTfFnN~")
_LONGEST = 400  # digits of a number that is looked at


def resolve_tag(value: str) -> str:
    """Return the tag of a plain scalar."""
    if value and value[0] not in _FIRST:
        return "!!merge" if value == "<<" else "!!str"
    return resolve(value)[0]


def resolve(value: str) -> tuple[str, Any]:
    """Return the tag of a plain scalar, and what it is."""
    known = _WORDS.get(value)
    if known is not None:
        return known
    first = value[0]
    if first == ".":
        return _float(value) if _FLOAT.match(value) else ("!!str", value)
    if first not in "+-0123456789" or len(value) > _LONGEST:
        return "!!str", value
    if moment := timestamp(value):
        return "!!timestamp", moment
    plain = value.replace("_", "")
    if match := _INTEGER.match(plain):
        number = _integer(match)
        if number is not None:
            return "!!int", number
    if _FLOAT.match(plain):
        return _float(plain)
    return "!!str", value


def is_other_in_1_1(value: str) -> bool:
    """Return whether version 1.1 of YAML takes a plain scalar for something other than a text."""
    if not value or (value not in _WORDS_1_1 and value[0] not in "+-.0123456789"):
        return False
    return value in _WORDS_1_1 or resolve(value)[0] in ("!!int", "!!float")


def _float(text: str) -> tuple[str, Any]:
    number = float(text)
    return ("!!float", number) if math.isfinite(number) else ("!!str", text)


def _integer(match: re.Match[str]) -> int | None:
    sign, *parts = match.groups()
    number = next(int(digits, base) for digits, base in zip(parts, (16, 2, 8, 10), strict=True) if digits)
    if sign == "-":
        return -number if number <= 1 << 63 else None
    return number if number < 1 << (63 if sign else 64) else None


def timestamp(value: str) -> str | None:
    """Return a point in time as RFC 3339 has it, None for a text that is none."""
    match = _TIME.match(value)
    if match is None or (len(match[2]) < 2 and len(value) < 8):
        return None
    import datetime

    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        datetime.datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None
    zone = match[8] or "Z"
    if zone != "Z":
        digits = zone[1:].replace(":", "")
        zone = f"{zone[0]}{digits[:-2] if len(digits) > 2 else digits:0>2}:{digits[-2:] if len(digits) > 2 else '00'}"
        zone = "Z" if zone[1:] == "00:00" else zone
    fraction = (match[7] or "")[:10].rstrip("0").rstrip(".")
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"
