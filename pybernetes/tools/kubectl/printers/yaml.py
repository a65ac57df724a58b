"""Prints objects as YAML, in the style of the library that the original uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cmp_to_key
from typing import Any

import yaml

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.printers import Print, without_managed

_WORDS = frozenset(
    [
        "~",
        "null",
        "Null",
        "NULL",
        "y",
        "Y",
        "yes",
        "Yes",
        "YES",
        "true",
        "True",
        "TRUE",
        "on",
        "On",
        "ON",
        "n",
        "N",
        "no",
        "No",
        "NO",
        "false",
        "False",
        "FALSE",
        "off",
        "Off",
        "OFF",
        ".nan",
        ".NaN",
        ".NAN",
        ".inf",
        ".Inf",
        ".INF",
        "+.inf",
        "+.Inf",
        "+.INF",
        "-.inf",
        "-.Inf",
        "-.INF",
        "<<",
    ]
) | {""}
_NUMBER = re.compile(
    r"[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*|(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)\Z"
)
_SEXAGESIMAL = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_TIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}([Tt ]+\d{1,2}:\d{1,2}:\d{1,2}(\.\d*)?( *(Z|[-+]\d{1,2}(:?\d{2})?))?)?\Z"
)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def dumps(value: Any) -> str:
    """A value as YAML."""
    events = _document(value)
    return yaml.emit(events, Dumper=_Dumper, allow_unicode=True)


def _document(value: Any) -> Iterator[Any]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    yield from _node(value)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _node(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        yield _text(value)
    elif isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, True, flow_style=not value)
        for key in sorted(value, key=_order):
            yield _text(str(key))
            yield from _node(value[key])
        yield yaml.MappingEndEvent()
    elif isinstance(value, list | tuple):
        yield yaml.SequenceStartEvent(None, None, True, flow_style=not value)
        for item in value:
            yield from _node(item)
        yield yaml.SequenceEndEvent()
    else:
        yield yaml.ScalarEvent(None, None, (True, True), _plain(value))


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = repr(value)
        return text.removesuffix(".0") if abs(value) < 1e21 else f"{value:e}"
    return str(value)


def _text(value: str) -> Any:
    style = None
    if "\n" in value:
        style = "|"
    elif is_ambiguous(value):
        style = '"'
    return yaml.ScalarEvent(None, None, (style is None, True), value, style=style)


def is_ambiguous(value: str) -> bool:
    """Whether the text, without quotes, would be something other than a text."""
    if value in _WORDS:
        return True
    if value[0] not in "+-.0123456789":
        return False
    return bool(_NUMBER.match(value) or _SEXAGESIMAL.match(value) or _TIME.match(value))


def _compare(left: str, right: str) -> int:
    """The order of keys: numbers in them count as numbers, letters come last."""
    digits = False
    for place in range(min(len(left), len(right))):
        one, other = left[place], right[place]
        if one == other:
            digits = one.isdigit()
            continue
        letters = one.isalpha(), other.isalpha()
        if all(letters):
            return -1 if one < other else 1
        if any(letters):
            first = letters[0] if digits else letters[1]
            return -1 if first else 1
        ours, ends = _number(left, place)
        theirs, end = _number(right, place)
        if (one == "0" or other == "0") and _digits_before(left, place):
            ours, theirs = int(f"1{ours:0{ends}d}") if ends else 1, int(f"1{theirs:0{end}d}") if end else 1
        if ours != theirs:
            return -1 if ours < theirs else 1
        if ends != end:
            return -1 if ends < end else 1
        return -1 if one < other else 1
    return len(left) - len(right)


def _number(text: str, place: int) -> tuple[int, int]:
    end = place
    while end < len(text) and text[end].isdigit():
        end += 1
    return (int(text[place:end]) if end > place else 0), end - place


def _digits_before(text: str, place: int) -> bool:
    while place and text[place - 1].isdigit():
        place -= 1
        if text[place] != "0":
            return True
    return False


_order = cmp_to_key(_compare)


def printer(context: Context, managed: bool) -> Print:
    """Prints each object, with a line between two of them."""
    count = 0

    def show(value: dict[str, Any]) -> None:
        nonlocal count
        if count:
            context.out("---")
        count += 1
        context.stdout.write(dumps(value if managed else without_managed(value)))

    return show
