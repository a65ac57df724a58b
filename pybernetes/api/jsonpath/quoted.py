"""Texts in quotes, as JSONPath templates have them: Go's escapes, and single quotes as well."""

from __future__ import annotations

import re

from pybernetes.api.jsonpath.comparison import JsonPathError

_PART = re.compile(
    r"\\(?:(?P<short>[abfnrtv\\'\"])|x(?P<byte>[0-9a-fA-F]{2})|(?P<octal>[0-7]{3})"
    r"|u(?P<small>[0-9a-fA-F]{4})|U(?P<large>[0-9a-fA-F]{8}))|(?P<plain>[^\\]+)",
    re.DOTALL,
)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unquoted(text: str) -> str:
    """Return the text in quotes; JsonPathError if it has an escape that is none."""
    mark, inner = text[0], text[1:-1]
    made = b""
    place = 0
    while place < len(inner):
        match = _PART.match(inner, place)
        if match is None:
            raise _error(text)
        made += _character(match, mark, text)
        place = match.end()
    return made.decode(errors="replace")


def _character(match: re.Match[str], mark: str, text: str) -> bytes:
    """Return the bytes of a part; escapes of bytes need not be UTF-8 by themselves."""
    if match["plain"]:
        return match["plain"].encode(errors="replace")
    if short := match["short"]:
        if short in "'\"" and short != mark:
            raise _error(text)
        return _SHORT.get(short, short).encode()
    if match["byte"]:
        return bytes([int(match["byte"], 16)])
    if match["octal"]:
        number = int(match["octal"], 8)
        if number > 255:
            raise _error(text)
        return bytes([number])
    number = int(match["small"] or match["large"], 16)
    if number > 0x10FFFF or 0xD800 <= number < 0xE000:
        raise _error(text)
    return chr(number).encode()


def _error(text: str) -> JsonPathError:
    return JsonPathError(f"unquote string {text} error invalid syntax")
