"""JSON: read as the standard library reads it, and refused in words that name a place within the text."""

from __future__ import annotations

import json
import math

import orjson

from fuzz.engine.target import Target
from pybernetes.api.text import json_reader


def run(data: bytes) -> None:
    """Read it with our reader and with Python's; a value survives being written and read again."""
    try:
        value = json_reader.loads(data)
    except json_reader.JsonError as error:
        assert error.plain
        return
    assert orjson.loads(orjson.dumps(value)) == value or _has_nan(value)
    try:
        expected = json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        return
    assert _close(value, expected), (value, expected)


def _has_nan(value: object) -> bool:
    return "NaN" in str(value)


def _close(ours: object, theirs: object) -> bool:
    """Whether two values are the same, but for halves of characters and numbers that only Python holds exactly."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return len(ours) <= len(theirs) and all(
            _close(value, theirs[key]) for key, value in ours.items() if key in theirs
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_close, ours, theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours == theirs or "�" in ours
    if isinstance(ours, bool | None) or isinstance(theirs, bool | None):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        return ours == theirs or math.isclose(ours, theirs, rel_tol=1e-9)
    return False


TARGET = Target(
    run,
    seeds=(
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}}',
        b'[1,-0,1.5e10,"\\u00e9\\ud83d\\ude00",true,false,null,{}]',
        b'{"a":{"b":[{"c":"d"},{"c":"\\\\\\""}]},"a":2}',
    ),
    words=(b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\u", b"\\ud800", b"null", b"true", b"1e400", b"-", b'"a":', b"\xff"),
    per_byte=5e-6,
)  # fmt: skip
