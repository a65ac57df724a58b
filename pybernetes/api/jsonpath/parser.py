"""Reads JSONPath templates: text with {expressions}, ``range`` and ``end`` among them."""

from __future__ import annotations

import re

from pybernetes.api.jsonpath.nodes import (
    COMPARISONS,
    Current,
    Field,
    Filter,
    Index,
    JsonPathError,
    Literal,
    Part,
    Path,
    Range,
    Recursive,
    Root,
    Slice,
    Step,
    Text,
    Union,
    Wildcard,
)

_NAME_END = frozenset(" \t\r\n[]{}(),|.=!<>&")
_NUMBER = re.compile(r"[-+]?\d*(\.\d+)?")
_FILTER = re.compile(r"([^!<>=]+)([!<>=]+)(.+?)$", re.DOTALL)
_SLICE = re.compile(r"(-?\d*)(:(-?\d*))?(:(-?\d*))?$")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'", "a": "\a", "b": "\b", "f": "\f",
            "v": "\v"}  # fmt: skip


class _RangeStart(Path):
    """The path of a ``range`` whose end has not been read."""


class _End:
    """The ``end`` of a range."""


def parse(text: str, allow_missing: bool, once: bool = False) -> tuple[Part, ...]:
    """Return the parts of a template; JsonPathError in client-go's words if the text is none.

    Unless missing fields are allowed, the template raises where an object lacks one. With ``once``, ``..`` selects nothing
    twice.
    """
    parts: list[Part | _End] = []
    place = 0
    while place < len(text):
        start = text.find("{", place)
        if start < 0:
            parts.append(Text(text[place:]))
            break
        if start > place:
            parts.append(Text(text[place:start]))
        action = _Action(text, start + 1, allow_missing, once)
        parts += action.parse()
        place = action.place
    return _nested(parts)


def _nested(parts: list[Part | _End]) -> tuple[Part, ...]:
    """Return the parts with those between ``range`` and ``end`` put into the range."""
    top: list[Part] = []
    opened: list[tuple[Path, list[Part]]] = []
    body = top

    def close() -> list[Part]:
        path, inner = opened.pop()
        outer = opened[-1][1] if opened else top
        outer.append(Range(Path(path.steps), tuple(inner)))
        return outer

    for part in parts:
        if isinstance(part, _RangeStart):
            body = []
            opened.append((part, body))
        elif isinstance(part, _End):
            if not opened:
                raise JsonPathError("not in range, nothing to end")
            body = close()
        else:
            body.append(part)
    while opened:
        close()
    return tuple(top)


class _Action:
    """The parser of what stands between braces; afterwards ``place`` is behind the closing one."""

    def __init__(self, text: str, place: int, allow_missing: bool, once: bool) -> None:
        self.text, self.place, self.allow_missing, self.once = text, place, allow_missing, once

    def parse(self) -> list[Part | _End]:
        """Return the expressions of the action."""
        steps: list[Step] = []
        parts: list[Part | _End] = []
        ranged = False
        while (char := self._char()) != "}":
            if char in " \t\r\n":
                self.place += 1
                if steps:
                    parts.append(Path(tuple(steps)))
                    steps = []
            elif char in "'\"":
                steps.append(Literal(self._quoted()))
            elif char == "[":
                steps += self._brackets()
            elif char == ".":
                field = self._field()
                if steps and isinstance(steps[-1], Recursive) and field and isinstance(field[0], Recursive):
                    raise JsonPathError("invalid multiple recursive descent")
                steps += field
            elif char in "@$":
                self.place += 1
                steps.append(Root() if char == "$" else Current())
            elif char in "+-" or char.isdigit():
                steps.append(Literal(self._number()))
            else:
                word = self._word()
                if word == "range":
                    ranged = True
                elif word == "end":
                    parts.append(_End())
                elif word in ("true", "false"):
                    steps.append(Literal(word == "true"))
                else:
                    raise JsonPathError(f"unrecognized identifier {word}")
        self.place += 1
        if steps:
            parts.append(Path(tuple(steps)))
        if not ranged:
            return parts
        if not parts or not isinstance(parts[0], Path):
            raise JsonPathError("unterminated range")
        return [_RangeStart(parts[0].steps)]

    def _char(self) -> str:
        if self.place >= len(self.text):
            raise JsonPathError("unclosed action")
        return self.text[self.place]

    def _quoted(self) -> str:
        mark = self.text[self.place]
        end = self.place + 1
        while end < len(self.text) and self.text[end] != mark:
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise JsonPathError("unterminated quoted string")
        raw = self.text[self.place + 1 : end]
        self.place = end + 1
        return _unquoted(raw)

    def _word(self) -> str:
        end = self.place
        while end < len(self.text) and self.text[end] not in _NAME_END:
            end += 1
        if end == self.place:
            char = self.text[end]
            raise JsonPathError(f"unrecognized character in action: U+{ord(char):04X} {char!r}")
        word, self.place = self.text[self.place : end], end
        return word

    def _number(self) -> float:
        match = _NUMBER.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
        try:
            return float(match[0]) if "." in match[0] else int(match[0])
        except ValueError:
            raise JsonPathError(f"cannot parse number {match[0]}") from None

    def _field(self) -> list[Step]:
        self.place += 1
        steps: list[Step] = []
        if self.text.startswith(".", self.place):
            self.place += 1
            steps.append(Recursive(self.once))
            if self.text.startswith("[", self.place):
                return steps
        name = ""
        while self.place < len(self.text) and self.text[self.place] not in _NAME_END:
            if self.text[self.place] == "\\" and self.place + 1 < len(self.text):
                self.place += 1
            name += self.text[self.place]
            self.place += 1
        if name:
            steps.append(Wildcard() if name == "*" else Field(name, self.allow_missing))
        return steps

    def _brackets(self) -> list[Step]:
        end = self._closing_bracket()
        inner = self.text[self.place + 1 : end].strip()
        self.place = end + 1
        if inner.startswith("?(") and inner.endswith(")"):
            return [self._filter(inner[2:-1])]
        if inner == "*":
            return [Slice()]
        parts = [part.strip() for part in _split_union(inner)]
        if len(parts) == 1 and _is_key(inner):
            return self._key(inner[1:-1])
        steps = [self._subscript(part) for part in parts]
        return [steps[0] if len(steps) == 1 else Union(tuple(steps))]

    def _key(self, inner: str) -> list[Step]:
        """Return the fields that a quoted key means: a dot that no backslash stands before separates them."""
        names = [re.sub(r"\\(.)", r"\1", name) for name in re.split(r"(?<!\\)\.", inner)]
        return [Field(name, self.allow_missing) for name in names]

    def _closing_bracket(self) -> int:
        depth, end, mark = 0, self.place, ""
        while end < len(self.text):
            char = self.text[end]
            if mark:
                if char == "\\":
                    end += 1
                elif char == mark:
                    mark = ""
            elif char in "'\"":
                mark = char
            elif char == "[":
                depth += 1
            elif char == "]":
                depth -= 1
                if not depth:
                    return end
            end += 1
        raise JsonPathError("unterminated array")

    def _subscript(self, inner: str) -> Step:
        if _is_key(inner):
            return Field(inner[1:-1].replace("\\", ""), self.allow_missing)
        if inner.startswith("?(") and inner.endswith(")"):
            return self._filter(inner[2:-1])
        match = _SLICE.match(inner)
        if match is None or not inner:
            raise JsonPathError(f"invalid array index {inner}")
        try:
            first, last, step = (int(number) if number else None for number in (match[1], match[3], match[5]))
        except ValueError:
            raise JsonPathError(f"invalid array index {inner}") from None
        return Index(first) if match[2] is None else Slice(first, last, step)

    def _filter(self, inner: str) -> Step:
        match = _FILTER.match(inner)
        if match is None:
            return Filter(self._operand(inner))
        if match[2] not in COMPARISONS:
            raise JsonPathError(f"unrecognized filter operator {match[2]}")
        return Filter(self._operand(match[1]), match[2], self._operand(match[3]))

    def _operand(self, text: str) -> tuple[Part, ...]:
        return parse("{" + text.strip() + "}", self.allow_missing, self.once)


def _split_union(text: str) -> list[str]:
    """Return the parts that commas outside of quotes separate."""
    parts, mark, last = [], "", 0
    for place, char in enumerate(text):
        if mark:
            mark = "" if char == mark else mark
        elif char in "'\"":
            mark = char
        elif char == ",":
            parts.append(text[last:place])
            last = place + 1
    return [*parts, text[last:]]


def _is_key(text: str) -> bool:
    """Tell whether a subscript is a key; double quotes are for texts alone."""
    return len(text) > 1 and text[0] == text[-1] == "'"


def _unquoted(raw: str) -> str:
    """Return a text with its escapes resolved."""
    return _ESCAPE.sub(_character, raw)


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    if len(escape) == 1:
        raise JsonPathError("invalid syntax")
    return chr(int(escape[1:], 16))
