"""One value printed as a verb of Go's fmt asks for it: %-8.3f of a number, %q of a text, and what is said where the two do not fit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pybernetes.api.text.go_format import quote

_BASES = {"d": "d", "b": "b", "o": "o", "O": "o", "x": "x", "X": "X"}
_PREFIXES = {"b": "0b", "o": "0", "O": "0o", "x": "0x", "X": "0X"}


class Spec(NamedTuple):
    """What stands between the percent sign and the verb."""

    flags: str = ""
    width: int | None = None
    precision: int | None = None


def formatted(verb: str, spec: Spec, value: Any) -> str:
    """Return a value as a verb prints it."""
    if verb == "T":
        return _padded(_truncated(type_name(value), spec), spec)
    if value is None:
        return _padded("<nil>", spec) if verb == "v" and "#" not in spec.flags else _nothing(verb)
    if verb in "vw":  # flags of %v have meanings of their own
        go_syntax = "#" in spec.flags
        spec = spec._replace(flags=spec.flags.replace("#", "").replace("+", "" if verb == "v" else "+"))
        return _value(verb, spec, value, go_syntax)
    return _value(verb, spec, value, False)


def _nothing(verb: str) -> str:
    return "<nil>" if verb == "v" else f"%!{verb}(<nil>)"


def _value(verb: str, spec: Spec, value: Any, go_syntax: bool) -> str:
    if isinstance(value, dict | list):
        return _deep(verb, spec, value, go_syntax)
    text: str | None
    if value is None:
        return "interface {}(nil)" if go_syntax else "<nil>"
    if isinstance(value, bool):
        text = _padded("true" if value else "false", spec) if verb in "tv" else None
    elif isinstance(value, int):
        text = _integer(verb, spec, int(value))
    elif isinstance(value, float):
        text = _float(verb, spec, value)
    else:
        text = _string(verb, spec, value, go_syntax)
    return f"%!{verb}({type_name(value)}={_value('v', spec, value, go_syntax)})" if text is None else text


def _deep(verb: str, spec: Spec, value: Any, go_syntax: bool) -> str:
    def inner(item: Any) -> str:
        return _value(verb, spec, item, go_syntax)

    if isinstance(value, dict):
        pairs = [f"{inner(key)}:{inner(value[key])}" for key in sorted(value)]
        return f"{type_name(value)}{{{', '.join(pairs)}}}" if go_syntax else f"map[{' '.join(pairs)}]"
    items = [inner(item) for item in value]
    return f"{type_name(value)}{{{', '.join(items)}}}" if go_syntax else f"[{' '.join(items)}]"


def type_name(value: Any) -> str:
    """Return the name of the type that Go would hold a value in."""
    from pybernetes.api.text import go_printf

    return go_printf.type_name(value)


def _padded(text: str, spec: Spec, zeros: bool = True) -> str:
    missing = (spec.width or 0) - len(text)
    if missing <= 0:
        return text
    if "-" in spec.flags:
        return text + " " * missing
    return ("0" if zeros and "0" in spec.flags else " ") * missing + text


def _truncated(text: str, spec: Spec) -> str:
    return text if spec.precision is None else text[: spec.precision]


def _sign(negative: bool, spec: Spec) -> str:
    return "-" if negative else "+" if "+" in spec.flags else " " if " " in spec.flags else ""


def _integer(verb: str, spec: Spec, value: int) -> str | None:
    if verb == "c":
        return _padded(_character(value), spec)
    if verb == "q":
        return _padded(_quoted_character(value, spec), spec)
    if verb == "U":
        return _padded(_unicode(value, spec), spec, zeros=False)
    if verb not in _BASES and verb != "v":
        return None
    sign = _sign(value < 0, spec)
    least = 0
    if spec.precision is not None:
        least = spec.precision
        if not least and not value:
            return _padded("", spec, zeros=False)
    elif "0" in spec.flags and "-" not in spec.flags and spec.width is not None:
        least = spec.width - len(sign)
    digits = format(abs(value), _BASES.get(verb, "d")).rjust(least, "0")
    prefix = _PREFIXES.get(verb, "") if "#" in spec.flags or verb == "O" else ""
    if prefix == "0" and digits.startswith("0"):
        prefix = ""
    if verb == "O" and "#" in spec.flags and not digits.startswith("0"):
        prefix = "0o0"
    return _padded(sign + prefix + digits, spec, zeros=False)


def _character(value: int) -> str:
    return chr(value) if 0 <= value <= 0x10FFFF and not 0xD800 <= value <= 0xDFFF else "\ufffd"


def _quoted_character(value: int, spec: Spec) -> str:
    text = _character(value)
    if text == "'":
        return "'\\''"
    if text == '"':
        return "'\"'"
    return f"'{_ascii(quote(text)[1:-1]) if '+' in spec.flags else quote(text)[1:-1]}'"


def _unicode(value: int, spec: Spec) -> str:
    text = f"U+{value % 2**64:0{max(spec.precision or 0, 4)}X}"
    if "#" in spec.flags and 0 <= value <= 0x10FFFF and chr(value).isprintable():
        text += f" '{chr(value)}'"
    return text


def _ascii(text: str) -> str:
    return "".join(
        char if char.isascii() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in text
    )


def _string(verb: str, spec: Spec, value: str, go_syntax: bool) -> str | None:
    if verb == "q" or (verb == "v" and go_syntax):
        text = _truncated(value, spec)
        if verb == "q" and "#" in spec.flags and _plain(text):
            return _padded(f"`{text}`", spec)
        return _padded(_ascii(quote(text)) if "+" in spec.flags else quote(text), spec)
    if verb in "sv":
        return _padded(_truncated(value, spec), spec)
    return _hexadecimal(verb, spec, value.encode()) if verb in "xX" else None


def _plain(text: str) -> bool:
    """Return whether a text can stand between backquotes."""
    return not any(char in "`\x7f\ufeff" or (char < " " and char != "\t") for char in text)


def _hexadecimal(verb: str, spec: Spec, data: bytes) -> str:
    if spec.precision is not None:
        data = data[: spec.precision]
    prefix = f"0{verb}" if "#" in spec.flags and data else ""
    text = prefix + (data.hex(" ").replace(" ", f" {prefix}") if " " in spec.flags else data.hex())
    return _padded(text.upper().replace("0X", "0X") if verb == "X" else text, spec)


def _float(verb: str, spec: Spec, value: float) -> str | None:
    if verb not in "vbgGxXeEfF":
        return None
    text = _digits(verb, spec.precision, abs(value))
    negative = math.copysign(1, value) < 0 and not math.isnan(value)
    if math.isinf(value) or math.isnan(value):
        sign = _sign(negative, spec) or ("+" if math.isinf(value) else "")
        return _padded(sign + text, spec, zeros=False)
    if "#" in spec.flags and verb != "b":
        text = _with_point(verb, spec.precision, text)
    sign = _sign(negative, spec)
    if "0" in spec.flags and "-" not in spec.flags and sign:
        return sign + text.rjust((spec.width or 0) - len(sign), "0")
    return _padded(sign + text, spec)


def _digits(verb: str, precision: int | None, value: float) -> str:
    """Return the digits of a number that is not negative."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf"
    if verb in "eEfF":
        text = f"{value:.{6 if precision is None else precision}{verb}}"
    elif verb == "b":
        mantissa, exponent = math.frexp(value)
        text = f"{int(mantissa * 2**53)}p{exponent - 53:+d}" if value else "0p-1074"
    elif verb in "xX":
        text = _hexadecimal_float(value, precision)
        text = text.upper() if verb == "X" else text
    elif precision is None:
        from pybernetes.api.text.go_printf import number

        text = number(value)
        text = text.upper() if verb == "G" else text
    else:
        text = f"{value:.{precision or 1}{'G' if verb == 'G' else 'g'}}"
    return text


def _hexadecimal_float(value: float, precision: int | None) -> str:
    head, _, power = value.hex().partition("p")
    whole, _, fraction = head.partition(".")
    if precision is None:
        fraction = fraction.rstrip("0")
    elif precision < 13:
        scaled = round(int(whole + fraction.ljust(13, "0"), 16) / 16 ** (13 - precision))
        digits = f"{scaled:0{precision + 1}x}" if value else "0" * (precision + 1)
        if digits[0] == "2":
            digits, power = f"1{digits[1:]}", str(int(power) + 1)
        whole, fraction = f"0x{digits[0]}", digits[1:]
    else:
        fraction = fraction.ljust(precision, "0")
    return f"{whole}{'.' if fraction else ''}{fraction}p{'-' if int(power) < 0 else '+'}{abs(int(power)):02d}"


def _with_point(verb: str, precision: int | None, text: str) -> str:
    """Return digits with a point, and with the zeros at the end that %#g keeps."""
    digits = 0
    if verb in "vgGxX":
        digits = 6 if precision is None else precision
    mark = "pP" if verb in "xX" else "eEpP"
    end = next((place for place, char in enumerate(text) if char in mark), len(text))
    number, tail = text[:end], text[end:]
    bare = number[2:] if verb in "xX" else number
    digits -= len(bare.replace(".", "").lstrip("0"))
    if "." not in number:
        digits -= bare == "0"
        number += "."
    return number + "0" * max(digits, 0) + tail
