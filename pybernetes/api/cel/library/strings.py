"""Functions on strings, with regular expressions and base64."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

from pybernetes.api.cel.cost import TRAVERSAL
from pybernetes.api.cel.library.declare import Library
from pybernetes.api.cel.library.standard import double_text
from pybernetes.api.cel.runtime import Failure, Moment, Span, TypeValue
from pybernetes.api.cel.work import Exceeded, look_at
from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

LIBRARY = Library()
# A string of this length costs as much as an expression may.
_LONGEST = 10_000_000
_MOST_DIGITS = 1000
_SPACE = " \t\n\v\f\r\u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_LOWER = {upper: upper + 32 for upper in range(65, 91)}
_UPPER = {lower: lower - 32 for lower in range(97, 123)}


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise Failure(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not 0 <= start <= len(text):
        raise Failure(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, end: int | None = None) -> int:
    if end is not None and not 0 <= end <= len(text):
        raise Failure(f"index out of range: {end}")
    within = text if end is None else text[: end + len(part)]
    # From behind Python takes time in proportion to the product of both lengths, and holds up everybody meanwhile.
    place = within[::-1].find(part[::-1])
    return place if place < 0 else len(within) - place - len(part)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    occurrences = text.count(old) if old else len(text) + 1
    _check_size(len(text) + (occurrences if count < 0 else min(count, occurrences)) * len(new))
    return text.replace(old, new, count)


def _check_size(length: int) -> None:
    """Cancel what would cost more than any expression may, before it is made."""
    if length > _LONGEST:
        raise Exceeded


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    look_at(int(len(text) * TRAVERSAL))
    if not separator:
        return list(text) if count < 0 or count >= len(text) else [*text[: count - 1], text[count - 1 :]]
    return text.split(separator, count - 1 if count > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    end = len(text) if end is None else end
    if not 0 <= start <= len(text):
        raise Failure(f"index out of range: {start}")
    if not 0 <= end <= len(text):
        raise Failure(f"index out of range: {end}")
    if start > end:
        raise Failure(f"invalid substring range. start: {start}, end: {end}")
    return text[start:end]


def _join(items: list[str], separator: str = "") -> str:
    try:
        _check_size(sum(map(len, items)) + len(separator) * len(items))
        return separator.join(items)
    except TypeError:
        raise Failure("no such overload") from None


_QUOTED = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"'}  # fmt: skip


def _quote(text: str) -> str:
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


def _length(value: Any) -> int:
    """Return how much is looked at to show a value; what is in it is counted when it is shown."""
    if isinstance(value, str | bytes):
        return 1 + int(len(value) * TRAVERSAL)
    return 1 + len(value) if isinstance(value, list | dict) else 1


def shown(value: Any) -> str:
    """Return a value as ``%s`` formats it."""
    look_at(_length(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return double_text(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown(key)}: {shown(value[key])}" for key in sorted(value, key=shown)) + "}"
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, int | str | Moment | Span):
        return str(value)
    raise Failure(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
    )


def _clause(verb: str, precision: int | None, value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match verb:
        case "s":
            return shown(value)
        case "d" if number:
            return shown(value)
        case "f" if number:
            return (
                shown(value)
                if isinstance(value, float) and math.isinf(value)
                else f"{value:.{6 if precision is None else precision}f}"
            )
        case "e" if number:
            return f"{value:.{6 if precision is None else precision}e}"
        case "b" if isinstance(value, int):
            return f"{int(value):b}"
        case "o" if number and isinstance(value, int):
            return f"{value:o}"
        case "x" | "X":
            text = ""
            if isinstance(value, str | bytes):
                look_at(_length(value))
                text = (value.encode() if isinstance(value, str) else value).hex()
            elif isinstance(value, int) and number:
                text = f"{value:x}"
            else:
                raise Failure("only integers, byte buffers, and strings can be formatted as hex")
            return text.upper() if verb == "X" else text
    raise Failure(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


def _format(text: str, values: list[Any]) -> str:
    result, index, at = [], 0, 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "%":
            result.append(char)
            continue
        if text[at : at + 1] == "%":
            result.append("%")
            at += 1
            continue
        precision = None
        if text[at : at + 1] == ".":
            end = at + 1
            while text[end : end + 1].isdigit():
                end += 1
            precision, at = int(text[at + 1 : end][:9] or "0"), end
            if precision > _MOST_DIGITS:
                raise Failure(f"could not parse formatting clause: precision {precision} is too large")
        if at >= len(text):
            raise Failure("could not parse formatting clause: unexpected end of string")
        if index >= len(values):
            raise Failure(f"index {index} out of range")
        result.append(_clause(text[at], precision, values[index]))
        index, at = index + 1, at + 1
    return "".join(result)


def _pattern(text: str) -> Any:
    try:
        return compile_pattern(text)
    except PatternError as error:
        raise Failure(f"Illegal regex: {error}") from None


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match.group(0) if match else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    look_at(int(len(text) * TRAVERSAL))
    matches = [match.group(0) for match in _pattern(pattern).finditer(text)]
    return matches if limit < 0 else matches[:limit]


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error as error:
        raise Failure(f"illegal base64 data: {error}") from None


_method = LIBRARY.method
_method("charAt", "string_char_at_int", "string int -> string", _char_at)
_method("indexOf", "string_index_of_string", "string string -> int", _index_of)
_method("indexOf", "string_index_of_string_int", "string string int -> int", _index_of)
_method("lastIndexOf", "string_last_index_of_string", "string string -> int", _last_index_of)
_method("lastIndexOf", "string_last_index_of_string_int", "string string int -> int", _last_index_of)
_method("lowerAscii", "string_lower_ascii", "string -> string", lambda text: text.translate(_LOWER))
_method("upperAscii", "string_upper_ascii", "string -> string", lambda text: text.translate(_UPPER))
_method("replace", "string_replace_string_string", "string string string -> string", _replace)
_method("replace", "string_replace_string_string_int", "string string string int -> string", _replace)
_method("split", "string_split_string", "string string -> list(string)", _split)
_method("split", "string_split_string_int", "string string int -> list(string)", _split)
_method("substring", "string_substring_int", "string int -> string", _substring)
_method("substring", "string_substring_int_int", "string int int -> string", _substring)
_method("trim", "string_trim", "string -> string", lambda text: text.strip(_SPACE))
_method("join", "list_join", "list(string) -> string", _join)
_method("join", "list_join_string", "list(string) string -> string", _join)
_method("format", "string_format", "string list(dyn) -> string", _format)
_method("reverse", "string_reverse", "string -> string", lambda text: text[::-1])
LIBRARY.function("strings.quote", "strings_quote", "string -> string", _quote)
_method("find", "string_find_string", "string string -> string", _find)
_method("findAll", "string_find_all_string", "string string -> list(string)", _find_all)
_method("findAll", "string_find_all_string_int", "string string int -> list(string)", _find_all)
LIBRARY.function(
    "base64.encode", "base64_encode_bytes", "bytes -> string", lambda data: base64.b64encode(data).decode()
)
LIBRARY.function("base64.decode", "base64_decode_string", "string -> bytes", _decode)
LIBRARY.function(
    "jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", "string -> string",
    lambda text: text.replace("~", "~0").replace("/", "~1"),
)  # fmt: skip
