"""The part of Kubernetes' JSONPath that printer columns and selectable fields use.

``.spec.name``, ``['a.b']``, ``\\.`` for a dot in a name, ``[0]``, ``[1:3]``, ``[*]``, ``..name`` and
``[?(@.type=="Ready")]`` with the operators ``== != < <= > >=``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Step = Callable[[Any], Iterator[Any]]
_NAME = re.compile(r"((?:\\.|[^.\[\]\\{}])+)")
_FILTER = re.compile(r"^\?\(\s*@(?P<left>.*?)\s*(?:(?P<op>==|!=|<=|>=|<|>)\s*(?P<right>.+?))?\s*\)$")
_SLICE = re.compile(r"^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda a, b: bool(a == b), "!=": lambda a, b: bool(a != b), "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b), ">": lambda a, b: bool(a > b), ">=": lambda a, b: bool(a >= b),
}  # fmt: skip


class JsonPathError(ValueError):
    """The text is not a path."""


def parse(text: str) -> Callable[[Any], list[Any]]:
    """A function that gives the values at a path; JsonPathError if the text is none."""
    steps = list(_steps(text))

    def find(value: Any) -> list[Any]:
        found = [value]
        for step in steps:
            found = [inner for outer in found for inner in step(outer)]
        return found

    return find


def _steps(text: str) -> Iterator[Step]:
    rest = text.strip()
    while rest:
        if rest.startswith(".."):
            rest = rest[1:]
            yield _descend
        if rest.startswith("["):
            inside, rest = _bracket(rest)
            yield _subscript(inside)
            continue
        if not rest.startswith("."):
            raise JsonPathError(f"unrecognized character in action: {text}")
        rest = rest[1:]
        if not rest:
            return
        if rest.startswith("["):
            continue
        match = _NAME.match(rest)
        if match is None:
            raise JsonPathError(f"unrecognized path: {text}")
        name, rest = re.sub(r"\\(.)", r"\1", match[1]), rest[match.end() :]
        yield _all if name == "*" else _member(name)


def _bracket(text: str) -> tuple[str, str]:
    quote = ""
    depth = 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
            if not depth:
                return text[1:index].strip(), text[index + 1 :]
    raise JsonPathError(f"unterminated array: {text}")


def _subscript(inside: str) -> Step:
    if inside == "*":
        return _all
    if inside[:1] in ("'", '"') and inside[-1:] == inside[:1] and len(inside) > 1:
        return _member(inside[1:-1])
    if inside.startswith("?"):
        return _filter(inside)
    match = _SLICE.match(inside)
    if not inside or match is None:
        raise JsonPathError(f"invalid array index {inside}")
    if ":" not in inside:
        return _item(int(inside))
    start, stop, step = (int(part) if part else None for part in match.groups())
    return lambda value: iter(value[start:stop:step] if type(value) is list else ())


def _member(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _item(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if type(value) is list and -len(value) <= index < len(value):
            yield value[index]

    return step


def _all(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif type(value) is list:
        yield from value


def _descend(value: Any) -> Iterator[Any]:
    yield value
    for inner in _all(value):
        yield from _descend(inner)


def _filter(inside: str) -> Step:
    match = _FILTER.match(inside)
    if match is None:
        raise JsonPathError(f"invalid filter {inside}")
    left = parse(match["left"])
    if match["op"] is None:
        return lambda value: (item for item in _all(value) if left(item))
    compare, right = _COMPARE[match["op"]], _operand(match["right"])

    def step(value: Any) -> Iterator[Any]:
        for item in _all(value):
            given, wanted = left(item), right(item)
            try:
                if given and wanted and compare(given[0], wanted[0]):
                    yield item
            except TypeError:
                continue

    return step


def _operand(text: str) -> Callable[[Any], list[Any]]:
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return lambda value: [text[1:-1]]
    if text in ("true", "false"):
        return lambda value: [text == "true"]
    if text.startswith("@"):
        return parse(text[1:])
    try:
        number = float(text)
    except ValueError:
        raise JsonPathError(f"invalid operand {text}") from None
    return lambda value: [number]
