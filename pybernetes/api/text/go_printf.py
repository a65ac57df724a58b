"""Values printed as Go's fmt prints them, with and without verbs."""

from __future__ import annotations

import math
from typing import Any

from pybernetes.api.text.go_format import quote


class GoInt(int):
    """An int, as lengths and constants of templates are; the whole numbers of objects are int64."""


def number(value: float) -> str:
    """Return a float64 as %v prints it: short, with an exponent from 1e+06 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, exponent = _digits(value)
    sign = "-" if value < 0 else ""
    if exponent < -4 or exponent >= 6:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return sign + digits + "0" * (exponent + 1 - len(digits))
    return f"{sign}{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


def _digits(value: float) -> tuple[str, int]:
    """Return the shortest digits of a number, and the power of ten of the first."""

    shortest = repr(abs(value))
    base, _, power = shortest.partition("e")
    whole, _, fraction = base.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    first = int(power or 0) + len(whole) - 1
    if not whole.strip("0"):
        first = int(power or 0) - (len(fraction) - len(fraction.lstrip("0"))) - 1
    return digits.rstrip("0") or "0", first


def plain(value: Any, *, nested: bool = False) -> str:
    """Return a value as %v prints it."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{plain(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list | tuple):
        return "[" + " ".join(plain(item) for item in value) + "]"
    return str(int(value)) if isinstance(value, GoInt) else str(value)


def sharp(value: Any) -> str:
    """Return a value as %#v prints it."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        inner = ", ".join(f"{quote(key)}:{sharp(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return "[]interface {}{" + ", ".join(sharp(item) for item in value) + "}"
    return plain(value)


def join(values: list[Any]) -> str:
    """Return what fmt.Sprint makes of values: a space between two neighbours that are not strings."""
    text = ""
    for place, value in enumerate(values):
        if place and not isinstance(value, str) and not isinstance(values[place - 1], str):
            text += " "
        text += plain(value)
    return text


def type_name(value: Any) -> str:
    """Return the name of the type that Go would hold the value in."""
    if value is None:
        return "<nil>"
    for kind, name in (
        (bool, "bool"),
        (str, "string"),
        (GoInt, "int"),
        (int, "int64"),
        (float, "float64"),
        (dict, "map[string]interface {}"),
    ):
        if isinstance(value, kind):
            return name
    return "[]interface {}"


def sprintf(pattern: str, values: list[Any]) -> str:
    """Return what fmt.Sprintf makes of values, for the verbs that templates use."""
    from pybernetes.api.text import go_verbs

    out: list[str] = []
    place, used = 0, 0
    while place < len(pattern):
        char = pattern[place]
        if char != "%":
            out.append(char)
            place += 1
            continue
        end = place + 1
        while end < len(pattern) and pattern[end] in "+-# 0":
            end += 1
        flags = pattern[place + 1 : end]
        width, end, used = _size(pattern, end, values, used)
        precision: int | None = None
        if end < len(pattern) and pattern[end] == ".":
            precision, end, used = _size(pattern, end + 1, values, used)
            precision = precision or 0
        if end >= len(pattern):
            out.append("%!(NOVERB)")
            break
        verb = pattern[end]
        place = end + 1
        if verb == "%":
            out.append("%")
        elif used >= len(values):
            out.append(f"%!{verb}(MISSING)")
        else:
            if width is not None and width < 0:
                flags, width = f"-{flags}", -width
            out.append(go_verbs.formatted(verb, go_verbs.Spec(flags, width, precision), values[used]))
            used += 1
    if used < len(values):
        extra = ", ".join(f"{type_name(value)}={plain(value)}" for value in values[used:])
        out.append(f"%!(EXTRA {extra})")
    return "".join(out)


def _size(pattern: str, place: int, values: list[Any], used: int) -> tuple[int | None, int, int]:
    if place < len(pattern) and pattern[place] == "*":
        given = values[used] if used < len(values) else 0
        return (int(given) if isinstance(given, int) else 0), place + 1, used + 1
    end = place
    while end < len(pattern) and pattern[end].isdigit():
        end += 1
    return (int(pattern[place:end]) if end > place else None), end, used
