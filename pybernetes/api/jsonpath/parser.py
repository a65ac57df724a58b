"""Reads JSONPath templates: text with {actions}, ``range`` and ``end`` among them."""

from __future__ import annotations

import re

from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.nodes import (
    Action,
    Field,
    Filter,
    Index,
    Literal,
    Recursive,
    Slice,
    Step,
    Text,
    Union,
    Wildcard,
    Word,
)
from pybernetes.api.jsonpath.quoted import unquoted

_NAME_END = frozenset(" \t\r\n.,[]$@{}")
_NUMBER = re.compile(r"[-+]?[\d.]*")
_FILTER = re.compile(r"([^!<>=]+)([!<>=]+)(.+)$")
_KEY = re.compile(r"'([^']*)'$")
_SLICE = re.compile(r"(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$")


def parse(text: str, allow_missing: bool, once: bool = False) -> tuple[Action, ...]:
    """Return the actions of a template; JsonPathError in client-go's words if the text is none.

    Unless missing fields are allowed, the template raises where an object lacks one. With ``once``, ``..`` selects nothing
    twice.
    """
    actions = []
    place = 0
    while place < len(text):
        start = text.find("{", place)
        if start < 0:
            actions.append(Action((Text(text[place:]),)))
            break
        if start > place:
            actions.append(Action((Text(text[place:start]),)))
        reader = _Reader(text, start + 1, allow_missing, once)
        actions.append(reader.action())
        place = reader.place
    return tuple(actions)


class _Reader:
    """Reads what stands between braces; afterwards ``place`` is behind the closing one."""

    def __init__(self, text: str, place: int, allow_missing: bool, once: bool) -> None:
        self.text, self.place, self.allow_missing, self.once = text, place, allow_missing, once

    def action(self) -> Action:
        """Return the steps of the action."""
        steps: list[Step] = []
        while (char := self._char()) != "}":
            if char == "[":
                steps += [self._filter()] if self.text.startswith("[?(", self.place) else self._array()
            elif char == ".":
                if self.text.startswith("..", self.place):
                    if steps and isinstance(steps[-1], Recursive):
                        raise JsonPathError("invalid multiple recursive descent")
                    steps.append(Recursive(self.once))
                    self.place += 2
                    if not _is_word(self.text[self.place : self.place + 1]):
                        continue
                else:
                    self.place += 1
                steps.append(self._field())
            elif char in " @$":
                self.place += 1
            elif char in "'\"":
                steps.append(self._quoted(char))
            elif char in "+-" or char.isdecimal():
                steps.append(self._number())
            else:
                steps.append(self._word(char))
        self.place += 1
        return Action(tuple(steps))

    def _char(self) -> str:
        char = self.text[self.place : self.place + 1]
        if char in ("", "\r", "\n"):
            raise JsonPathError("unclosed action")
        return char

    def _quoted(self, mark: str) -> Step:
        start = self.place
        self.place += 1
        while True:
            char = self.text[self.place : self.place + 1]
            if char in ("", "\n"):
                raise JsonPathError("unterminated quoted string")
            self.place += 1
            if char == mark and self.text[self.place - 2] != "\\":
                return Text(unquoted(self.text[start : self.place]))

    def _word(self, first: str) -> Step:
        if not _is_word(first):
            shown = f" {first!r}" if first.isprintable() else ""
            raise JsonPathError(f"unrecognized character in action: U+{ord(first):04X}{shown}")
        end = self.place
        while end < len(self.text) and self.text[end] not in _NAME_END:
            end += 1
        word, self.place = self.text[self.place : end], end
        return Literal(word == "true") if word in ("true", "false") else Word(word)

    def _number(self) -> Step:
        match = _NUMBER.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        digits = match[0]
        try:
            if "." not in digits and -(1 << 63) <= int(digits) < 1 << 63:
                return Literal(int(digits))
            return Literal(float(digits))
        except ValueError:
            raise JsonPathError(f"cannot parse number {digits}") from None

    def _field(self) -> Step:
        start = self.place
        while self.place < len(self.text) and self.text[self.place] not in _NAME_END:
            self.place += 2 if self.text[self.place] == "\\" else 1
        name = self.text[start : self.place].replace("\\", "")
        return Wildcard() if name == "*" else Field(name, self.allow_missing)

    def _array(self) -> list[Step]:
        start = self.place + 1
        end = self.text.find("]", start)
        if end < 0 or "\n" in self.text[start:end]:
            raise JsonPathError("unterminated array")
        self.place = end + 1
        inner = self.text[start:end]
        if inner == "*":
            return [Slice()]
        if "," in inner:
            parts = (part.strip(" ") for part in inner.split(","))
            return [Union(tuple(self._inner(f"[{part}]") for part in parts))]
        if match := _KEY.match(inner):
            return list(self._inner(f".{match[1]}").steps)
        match = _SLICE.match(inner)
        if match is None:
            raise JsonPathError(f"invalid array index {inner}")
        first, last, step = (_whole(part) for part in match.groups())
        return [Index(first) if match[2] is None else Slice(first, last, step)]

    def _filter(self) -> Step:
        start = self.place + len("[?(")
        end, mark, closed = start, "", False
        while True:
            char = self.text[end : end + 1]
            if char in ("", "\n"):
                raise JsonPathError("unterminated filter")
            end += 1
            if char in "'\"":
                if not mark:
                    mark = char
                elif char == mark and self.text[end - 2] != "\\":
                    closed = True
            elif char == ")" and bool(mark) == closed:
                break
        if self.text[end : end + 1] != "]":
            raise JsonPathError("unclosed array expect ]")
        self.place = end + 1
        inner = self.text[start : end - 1]
        match = _FILTER.match(inner)
        if match is None:
            return Filter(self._inner(inner))
        return Filter(self._inner(match[1]), match[2], self._inner(match[3]))

    def _inner(self, text: str) -> Action:
        """Return the action that a text without braces is."""
        reader = _Reader("{" + text + "}", 1, self.allow_missing, self.once)
        return reader.action()


def _is_word(char: str) -> bool:
    """Return whether a character may begin a word."""
    return char == "_" or char.isalpha() or char.isdecimal()


def _whole(part: str | None) -> int | None:
    """Return the number of a part of a slice, or None if there is none."""
    digits = (part or "").removeprefix(":")
    if not digits:
        return None
    try:
        return int(digits)
    except ValueError:
        raise JsonPathError(f"array index {digits} is not a number") from None
