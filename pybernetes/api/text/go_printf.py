"""Values printed as Go's fmt prints them, with and without verbs."""

from __future__ import annotations

import math
from typing import Any

from pybernetes.api.text.go_format import quote


class GoInt(int):
    """An int, as lengths and constants of templates are; the whole numbers of objects are int64."""


def number(value: float) -> str:
    """Return a float64 as %v prints it: short, with an exponent from 1e+21 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, exponent = _digits(value)
    sign = "-" if value < 0 else ""
    if exponent < -4 or exponent >= 21:
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
            out.append(_one(verb, flags, width, precision, values[used]))
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


def _one(verb: str, flags: str, width: int | None, precision: int | None, value: Any) -> str:
    text = _verb(verb, flags, precision, value)
    if width and len(text) < width:
        if "-" in flags:
            return text.ljust(width)
        if "0" in flags and verb not in "qsv":
            sign = text[0] if text[:1] in "+-" and text else ""
            return sign + text[len(sign) :].rjust(width - len(sign), "0")
        return text.rjust(width)
    return text


def _verb(verb: str, flags: str, precision: int | None, value: Any) -> str:
    integer = isinstance(value, int) and not isinstance(value, bool)
    sign = "+" if "+" in flags and isinstance(value, int | float) and value >= 0 else ""
    if verb == "v":
        return f"{quote(value)}" if "#" in flags and isinstance(value, str) else sign + plain(value)
    if verb == "T":
        return type_name(value)
    if verb == "t" and isinstance(value, bool):
        return plain(value)
    if verb in "sq" and isinstance(value, str):
        cut = value[:precision] if precision is not None else value
        return cut if verb == "s" else quote(cut)
    if verb in "sq" and isinstance(value, list | dict):
        return _deep(verb, value)
    if verb == "q" and integer:
        return f"'{chr(value)}'"
    if verb in "xX" and isinstance(value, str):
        text = value.encode().hex()
        return text.upper() if verb == "X" else text
    if integer and verb in "dbox" + "X":
        return sign + format(value, verb)
    if integer and verb == "c":
        return chr(value)
    if integer and verb == "U":
        return f"U+{value:04X}"
    if isinstance(value, float) and verb in "eEfFgG":
        if verb in "gG" and precision is None:
            return sign + number(value)
        return sign + _exponent(f"{value:.{6 if precision is None else precision}{verb}}")
    return f"%!{verb}({type_name(value)}={plain(value)})" if value is not None else f"%!{verb}(<nil>)"


def _deep(verb: str, value: Any) -> str:
    if isinstance(value, dict):
        return (
            "map["
            + " ".join(
                f"{_verb(verb, '', None, key)}:{_verb(verb, '', None, value[key])}" for key in sorted(value)
            )
            + "]"
        )
    return "[" + " ".join(_verb(verb, "", None, item) for item in value) + "]"


def _exponent(text: str) -> str:
    return text
