"""Answers as YAML, for the few clients that ask for it.

The library writes a piece of YAML in one go, with all other threads held: so large values are written piece by piece, and a
piece that is large itself in YAML's flow style, which is JSON.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import orjson

# What takes the library less than 20 ms.
_PIECE = 16 << 10
# What JSON has as it is and YAML must have escaped.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def dumps(value: Any) -> bytes:
    """Return a value as YAML."""
    if not isinstance(value, dict) or len(orjson.dumps(value)) <= _PIECE:
        return _written(value).encode()
    parts: list[str] = []
    for key in sorted(value):
        part, name = value[key], _written({key: None}).removesuffix(" null\n")
        if isinstance(part, list) and part:
            parts.append(name + "\n")
            parts += [_piece("-", element, [element]) for element in part]
        else:
            parts.append(_piece(name, part, {key: part}))
    return "".join(parts).encode()


def _piece(name: str, value: Any, named: Any) -> str:
    text = orjson.dumps(value)
    if len(text) <= _PIECE:
        return _written(named)
    flow = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text.decode())
    return f"{name} {flow}\n"


@cache
def _dumper() -> Any:
    import yaml  # only now: few clients ask for it

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        """Writes what is there twice twice: readers of other languages need not know anchors."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return Dumper


def _written(value: Any) -> str:
    import yaml

    text: str = yaml.dump(value, Dumper=_dumper(), allow_unicode=True)
    return text
