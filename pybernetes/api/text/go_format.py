"""Values written as Go's fmt and encoding/json write them, because clients match on the text."""

from __future__ import annotations

import difflib
import json
from typing import Any

import orjson

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
            "\\": "\\\\", '"': '\\"'}  # fmt: skip


# Go's JSON escapes what could end a script in a web page.
_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def quote(text: str) -> str:
    """Return the string as Go's ``%q`` prints it."""
    if text.isprintable() and '"' not in text and "\\" not in text:  # almost all are
        return f'"{text}"'
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_TYPE_NAMES = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def type_name(value: Any) -> str:
    """Return the type of a JSON value as Go's ``%T`` prints it."""
    return _TYPE_NAMES.get(type(value), "<nil>")


class Struct(dict[str, Any]):
    """A value that Go holds as a struct: messages show its fields in their order, not sorted as a map's keys."""


def _json(item: Any) -> str:
    if isinstance(item, Struct):
        return "{" + ",".join(f"{_json(key)}:{_json(entry)}" for key, entry in item.items()) + "}"
    if isinstance(item, list):
        return "[" + ",".join(_json(entry) for entry in item) + "]"
    return orjson.dumps(item, option=orjson.OPT_SORT_KEYS).decode()


Fields = dict[str, "tuple[str, Fields | None]"]


def struct(item: dict[str, Any] | None, fields: Fields) -> Struct | None:
    """Return an object as Go holds it inside: every field under its Go name and in order, absent ones null.

    ``fields`` gives for each Go name the name in the API and, for a field that is such an object too, its fields.
    """
    if item is None:
        return None
    return Struct(
        {
            name: struct(item.get(key), inner) if inner else item.get(key)
            for name, (key, inner) in fields.items()
        }
    )


def difference(old: Any, new: Any) -> str:
    """Return the lines in which two values differ, as a unified diff of their JSON."""
    texts = [json.dumps(item, indent=1, ensure_ascii=False).translate(_HTML) for item in (old, new)]
    before, after = ([f"{line}\n" for line in text.split("\n")] for text in texts)
    return "".join(list(difflib.unified_diff(before, after))[2:])


def value(item: Any) -> str:
    """Return a field's bad value as an error message shows it."""
    if isinstance(item, str):
        return quote(item)
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, float) and item.is_integer() and abs(item) < 1e21:
        return str(int(item))
    if isinstance(item, (int, float)):
        return str(item)
    return _json(item).translate(_HTML)
