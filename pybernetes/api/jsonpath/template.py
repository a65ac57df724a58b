"""A JSONPath template that can be run on values."""

from __future__ import annotations

import re
from typing import Any

from pybernetes.api.jsonpath.nodes import JsonPathError, select_all
from pybernetes.api.jsonpath.parser import parse

_RELAXED = re.compile(r"^\{\.?([^{}]+)\}$|^\.?([^{}]+)$")


class JsonPath:
    """A template: text with {expressions}, ``range`` and ``end`` among them; JsonPathError if it is none."""

    def __init__(self, text: str, allow_missing: bool = True, once: bool = False) -> None:
        self._parts = parse(text, allow_missing, once)

    def results(self, value: Any) -> list[list[Any]]:
        """Return what each expression selects from a value; JsonPathError where the template does not fit it."""
        return select_all(self._parts, value, value)


def relaxed(text: str) -> str:
    """Return a path, given with or without braces and leading dot, as ``{.path}``."""
    if not text:
        return text
    match = _RELAXED.match(text)
    if match is None:
        raise JsonPathError(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'"
        )
    return "{." + (match[1] or match[2]) + "}"
