"""JSON texts read as Go reads them; errors are in Go's words and say where.

The parser says what it stumbled over and where, so that nobody has to read the text a second time: a text of megabytes
is refused as quickly as it is read.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from pybernetes.lib.event_loop import json_pieces
from pybernetes.lib.event_loop.json_pieces import Piece

# How deep arrays and objects may be nested: what handles them recurses.
MAX_DEPTH = 250
# How many arrays and objects there may be: no more fit into the 1.5 MiB that upstream's store takes, and what is made of
# each, with its defaults, takes a kilobyte.
MAX_CONTAINERS = 500_000
TOO_MANY = "exceeded max number of arrays and objects"
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
END = "unexpected end of JSON input"


class JsonError(ValueError):
    """The text is not JSON; ``plain`` is what is wrong, ``place`` says where, ``offset`` in bytes."""

    def __init__(self, plain: str, place: str = "", offset: int = 0) -> None:
        super().__init__(plain + place)
        self.plain, self.place, self.offset = plain, place, offset


def loads(raw: bytes) -> Any:
    """Return the value of a text; what is no character becomes the replacement character, as in Go."""
    return read(raw)[0]


def read(raw: bytes) -> tuple[Any, int | None]:
    """Return the value of a text and how many keys the text has, if they were counted.

    A text of many values is read in pieces, so that other threads have their turn.
    """
    keys = None
    if len(raw) > json_pieces.MANY_MARKS and json_pieces.has_many_marks(raw):
        value, keys = read_pieces(raw)
    else:
        try:
            value = orjson.loads(raw)
        except orjson.JSONDecodeError:
            value = None
        if value is None:  # not read, or null
            value = _whole(raw)
    # Only a text with many brackets can be nested deeply.
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise JsonError(TOO_DEEP)
    return value, keys


def read_pieces(raw: bytes, size: int = json_pieces.SLICE) -> tuple[Any, int]:
    """Return the value of a text, read in pieces of about a size, and how many keys the text has."""
    containers = 0

    def parse(piece: Piece) -> Any:
        nonlocal containers
        containers += piece.containers
        if containers > MAX_CONTAINERS:
            raise JsonError(TOO_MANY)
        return _piece(raw, piece)

    return json_pieces.loads(raw, parse, size)


def _whole(raw: bytes) -> Any:
    try:
        return _parsed(raw)
    except orjson.JSONDecodeError:
        pass  # no error within an error: each holds the whole text
    raise _error(raw, Piece(0, len(raw), b"", b"", 0, 0, 0, True))


def _piece(raw: bytes, piece: Piece) -> Any:
    try:
        value = _parsed(piece.document(raw))
    except orjson.JSONDecodeError:
        pass
    else:
        if len(piece.after) > MAX_DEPTH:
            raise JsonError(TOO_DEEP)
        return value
    raise _error(raw, piece)


def _parsed(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        pass
    return orjson.loads(_mended(raw.decode("utf-8", "replace")))


def _mended(text: str) -> str:
    return _ESCAPE.sub(lambda match: _HALF if match[1] else match[0], text)


def _error(raw: bytes, piece: Piece) -> JsonError:
    """Return what is wrong with a piece of a text, and where in the text: in the piece, or right behind it."""
    head = piece.head().decode()
    text = head + raw[piece.start : piece.end + json_pieces.SLICE].decode("utf-8", "replace")
    try:
        orjson.loads(_mended(text))
    except orjson.JSONDecodeError as error:  # which holds the whole text, and must not be held itself
        message, position = error.msg, error.pos
    message, position = _complaint(text, message, position)
    if position < 0:
        return JsonError(message)
    before = raw[: piece.start].decode("utf-8", "replace")
    text, position = before + text[len(head) :], position + len(before) - len(head)
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    offset = len(text[:position].encode("utf-8", "surrogatepass"))
    return JsonError(message, f" at line {line}, column {column}", offset)


def _is_deeper(value: Any, limit: int) -> bool:
    """Return whether arrays and objects are nested more deeply; level by level, since recursion is what must not be."""
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
        return END, len(text)
    if message == "invalid escaped sequence in string":
        escape = _BROKEN_ESCAPE.match(text, position)
        if escape is None or escape.end() == len(text):
            return END, len(text)
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
            return END, len(text)
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
