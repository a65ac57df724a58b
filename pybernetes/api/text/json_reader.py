"""JSON texts read as Go reads them; errors are in Go's words and say where."""

from __future__ import annotations

import re
from typing import Any

import orjson

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBER_START = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_LITERALS = {"t": "true", "f": "false", "n": "null"}
# An escaped half of a character whose other half is missing; pairs and other escapes are matched to pass over them.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_HALF = "\\ufffd"


class JsonError(ValueError):
    """The text is not JSON; ``plain`` is what is wrong, ``place`` says where."""

    def __init__(self, plain: str, place: str = "") -> None:
        super().__init__(plain + place)
        self.plain, self.place = plain, place


def loads(raw: bytes) -> Any:
    """Return the value of a text; what is no character becomes the replacement character, as in Go."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as problem:
        error = problem
    text = raw.decode("utf-8", "replace")
    mended = _ESCAPE.sub(lambda match: _HALF if match[1] else match[0], text)
    try:
        return orjson.loads(mended)
    except orjson.JSONDecodeError:
        message, position = _complaint(text)
    if not message:  # a number out of range, or arrays inside of arrays without end
        raise JsonError(str(error))
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    raise JsonError(message, f" at line {line}, column {column}")


def _complaint(text: str) -> tuple[str, int]:
    """Return the first thing that is wrong with a text, and where; nothing if the text is well-formed."""
    stack: list[str] = []
    expected = "value"
    position = 0
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
        if expected == "end" and not stack:
            break
        if position == len(text):
            return "unexpected end of JSON input", position
        char = text[position]
        if expected == "end":
            inside = stack[-1]
            if char == ("}" if inside == "{" else "]"):
                stack.pop()
            elif char == ",":
                expected = "key" if inside == "{" else "value"
            else:
                where = "object key:value pair" if inside == "{" else "array element"
                return _invalid(char, f"after {where}"), position
            position += 1
        elif expected == "colon":
            if char != ":":
                return _invalid(char, "after object key"), position
            position, expected = position + 1, "value"
        elif expected == "key" or expected == "key or end":
            if char == "}" and expected == "key or end":
                stack.pop()
                position, expected = position + 1, "end"
            elif char != '"':
                return _invalid(char, "looking for beginning of object key string"), position
            else:
                problem, position = _scalar(text, position)
                if problem:
                    return problem, position
                expected = "colon"
        elif char in "{[":
            stack.append(char)
            position, expected = position + 1, "key or end" if char == "{" else "value or end"
        elif char == "]" and expected == "value or end":
            stack.pop()
            position, expected = position + 1, "end"
        else:
            problem, position = _scalar(text, position)
            if problem:
                return problem, position
            expected = "end"
    if position < len(text):
        return _invalid(text[position], "after top-level value"), position
    return "", position


def _scalar(text: str, start: int) -> tuple[str, int]:
    """Return what is wrong with the string, number or word at a place, or nothing, and where it ends."""
    char = text[start]
    if char == '"':
        end = _STRING.match(text, start).end()  # type: ignore[union-attr]
        if end < len(text) and text[end] == '"':
            return "", end + 1
        if end < len(text) and text[end] != "\\":
            return _invalid(text[end], "in string"), end
        escape = re.compile(r"\\u.{0,4}|\\.?", re.DOTALL).match(text, end)
        if escape is None or escape.end() == len(text):
            return "unexpected end of JSON input", len(text)
        return f"invalid escape sequence `{escape[0]}` in string", end
    if char in _LITERALS:
        word = _LITERALS[char]
        for offset, wanted in enumerate(word):
            if start + offset == len(text):
                return "unexpected end of JSON input", len(text)
            if text[start + offset] != wanted:
                where = f"in literal {word} (expecting '{wanted}')"
                return _invalid(text[start + offset], where), start + offset
        return "", start + len(word)
    if char == "-" or "0" <= char <= "9":
        whole = _NUMBER.match(text, start)
        begun = _NUMBER_START.match(text, start)
        assert begun is not None
        if whole is not None and whole.end() == begun.end():
            return "", whole.end()
        if begun.end() == len(text):
            return "unexpected end of JSON input", len(text)
        return _invalid(text[begun.end()], "in numeric literal"), begun.end()
    return _invalid(char, "looking for beginning of value"), start


def _invalid(char: str, where: str) -> str:
    if char == "'":
        shown = "'\\''"
    elif char.isprintable():
        shown = f"'{char}'"
    else:
        shown = f"'\\x{ord(char):02x}'" if ord(char) < 0x80 else f"'\\u{ord(char):04x}'"
    return f"invalid character {shown} {where}"
