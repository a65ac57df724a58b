"""Where a rule says that a value is wrong: paths such as ``.spec.size`` or ``.limits['cpu']``, with their schema."""

from __future__ import annotations

import re

from pybernetes.api.field import Path
from pybernetes.api.resource import Object

_STEP = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)+)'\]")


def below(path: Path, text: str, schema: Object) -> Path | None:
    """Return the place that a text names below a path, or None if the schema has no such place."""
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return None
        at = match.end()
        name = match[1] or re.sub(r"\\(.)", r"\1", match[2])
        properties, additional = schema.get("properties"), schema.get("additionalProperties")
        if properties:
            if name not in properties:
                return None
            path, schema = path / name, properties[name]
        elif type(additional) is dict:
            path, schema = path[name], additional
        else:
            return None
    return path
