"""Prints objects as JSON, indented by four spaces."""

from __future__ import annotations

import json

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.output.printers import Print, without_managed

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

# Go's JSON escapes what could end a script in a web page.
_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


def dumps(value: Any, *, typed: bool = False, indent: int | None = 4) -> str:
    """Return a value as JSON; the keys are sorted unless their order is that of a type."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, indent=indent, sort_keys=not typed, ensure_ascii=False, separators=separators)
    return text.translate(_ESCAPES)


def printer(context: Context, managed: bool, typed: bool = False) -> Print:
    """Return a printer of objects as JSON."""

    def show(value: Object) -> None:
        context.out(dumps(value if managed else without_managed(value), typed=typed))

    return show
