"""JSON texts read as Go reads them; errors are in Go's words and say where.

The parser says what it stumbled over and where, so that nobody has to read the text a second time: a text of megabytes
is refused as quickly as it is read.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

# How deep arrays and objects may be nested: what handles them recurses.
MAX_DEPTH = 250
# How many objects, arrays and keys a text may have: the parser cannot be interrupted, and takes about 200 ns for each,
# so that nobody waits for more than a few milliseconds. Large definitions of custom resources have a fifth of this.
MAX_VALUES = 100_000
# Items of arrays take a tenth of that.
_MAX_ITEMS = 10 * MAX_VALUES
# A comma; a text, and whether it is a key; a bracket. What is inside of a text is passed over, and never looked at twice.
_MARK = re.compile(rb'(,)|"(?:[^"\\]++|\\.)*+"(\s*+:)?|[{\[]', re.DOTALL)
_QUOTE = ord('"')
TOO_DEEP = "exceeded max depth"
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_BROKEN_ESCAPE = re.compile(r"\\u.{0,4}|\\.?", re.DOTALL)
# An escaped half of a character whose other half is missing; pairs and other escapes are matched to pass over them.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_HALF = "\\ufffd"
# What the parser says when it meets a character, and what Go says.
_WORDS = {
    "unexpected character, expected a string key": "looking for beginning of object key string",
    "unexpected character, expected ':' after key": "after object key",
    "unexpected character, expected ',' or '}'": "after object key:value pair",
    "unexpected character, expected ',' or ']'": "after array element",
    "unexpected content after document": "after top-level value",
    "unexpected control character in string": "in string",
    "no digit after sign": "in numeric literal",
    "no digit after decimal point": "in numeric literal",
    "no digit after exponent sign": "in numeric literal",
}
# What the parser says about nesting that it does not follow.
_DEEP = ("depth limit exceeded", "failed to allocate memory")
_END = "unexpected end of JSON input"


class JsonError(ValueError):
    """The text is not JSON; ``plain`` is what is wrong, ``place`` says where."""

    def __init__(self, plain: str, place: str = "") -> None:
        super().__init__(plain + place)
        self.plain, self.place = plain, place


def loads(raw: bytes) -> Any:
    """Return the value of a text; what is no character becomes the replacement character, as in Go."""
    value = _read(raw)
    # Only a text with many brackets can be nested deeply.
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise JsonError(TOO_DEEP)
    return value


def _read(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass  # no error within an error: each holds the whole text
    return _mended(raw)


def has_too_many_values(raw: bytes) -> bool:
    """Tell whether a text has more values than is put up with."""
    if len(raw) <= 2 * MAX_VALUES:  # a mark and what it stands for
        return False
    marks = raw.count(b"{") + raw.count(b"[") + raw.count(b'":')
    if marks <= MAX_VALUES and raw.count(b",") <= _MAX_ITEMS:
        return False
    return _has_too_many_marks(raw)


def _has_too_many_marks(raw: bytes) -> bool:
    """Tell the same by looking at each mark: most may be inside of texts, such as a file of JSON in a ConfigMap."""
    values = items = 0
    for mark in _MARK.finditer(raw):
        if mark[1]:
            items += 1
        elif mark[2] or raw[mark.start()] != _QUOTE:
            values += 1
        if values > MAX_VALUES or items > _MAX_ITEMS:
            return True
    return False


def _mended(raw: bytes) -> Any:
    text = raw.decode("utf-8", "replace")
    mended = _ESCAPE.sub(lambda match: _HALF if match[1] else match[0], text)
    try:
        return orjson.loads(mended)
    except orjson.JSONDecodeError as error:  # which holds the whole text, and must not be held itself
        message, position = error.msg, error.pos
    message, position = _complaint(text, message, position)
    if position < 0:
        raise JsonError(message)
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    raise JsonError(message, f" at line {line}, column {column}")


def _is_deeper(value: Any, limit: int) -> bool:
    """Tell whether arrays and objects are nested more deeply; level by level, since recursion is what must not be."""
    level = [value]
    for _ in range(limit):
        children: list[Any] = []
        for item in level:
            if type(item) is dict:
                children += [child for child in item.values() if type(child) in (dict, list)]
            elif type(item) is list:
                children += [child for child in item if type(child) in (dict, list)]
        if not children:
            return False
        level = children
    return True


def _complaint(text: str, message: str, position: int) -> tuple[str, int]:
    """Return the parser's complaint in Go's words, and where it is; a negative place is none in particular."""
    if message in _DEEP:
        return TOO_DEEP, -1
    if message == "number is infinity when parsed as double":
        return message, -1
    if message == "trailing comma is not allowed":
        rest = re.compile(r"[ \t\r\n]*").match(text, position + 1)
        position = rest.end() if rest else position
        where = "object key string" if text[position] == "}" else "value"
        return _invalid(text[position], f"looking for beginning of {where}"), position
    if message == "number with leading zero is not allowed":
        return _after_zero(text, position)
    if position >= len(text) or not text.strip(" \t\r\n") or "end of data" in message:
        return _END, len(text)
    if message == "invalid escaped sequence in string":
        escape = _BROKEN_ESCAPE.match(text, position)
        if escape is None or escape.end() == len(text):
            return _END, len(text)
        return f"invalid escape sequence `{escape[0]}` in string", position
    if message.startswith("no digit") and (position == 0 or text[position - 1] not in "0123456789-+.eE"):
        return _literal(text, position)  # nothing that begins like this is a number
    if message in _WORDS:
        return _invalid(text[position], _WORDS[message]), position
    return _literal(text, position)


def _after_zero(text: str, position: int) -> tuple[str, int]:
    """Return the complaint about what follows a zero, after which no digit can be."""
    position += text[position] == "-"
    try:
        orjson.loads(f"{text[: position + 1]} {text[position + 1 :]}".encode("utf-8", "replace"))
    except orjson.JSONDecodeError as error:
        message, place = _complaint(text, error.msg, error.pos - 1)
        return message, place
    raise AssertionError("a zero before a digit is no JSON")


def _literal(text: str, start: int) -> tuple[str, int]:
    """Return what is wrong with the word at a place, which may be the beginning of true, false or null."""
    word = _LITERALS.get(text[start], "")
    for offset, wanted in enumerate(word):
        if start + offset == len(text):
            return _END, len(text)
        if text[start + offset] != wanted:
            where = f"in literal {word} (expecting '{wanted}')"
            return _invalid(text[start + offset], where), start + offset
    return _invalid(text[start], "looking for beginning of value"), start


def _invalid(char: str, where: str) -> str:
    if char == "'":
        shown = "'\\''"
    elif char.isprintable():
        shown = f"'{char}'"
    else:
        shown = f"'\\x{ord(char):02x}'" if ord(char) < 0x80 else f"'\\u{ord(char):04x}'"
    return f"invalid character {shown} {where}"
