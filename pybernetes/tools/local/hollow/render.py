"""Fills in templates: maps and lists in which ``$name`` stands for an input and ``$.path`` for a part of an object.

Inside of a longer text ``${.path}`` stands for a part of the current item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pybernetes.api.resource import Object

ABSENT: Any = object()
_INSIDE = re.compile(r"\$\{(\.[\w.]+)\}")
# Values by name, or functions of the current item.
Inputs = Mapping[str, Any]


def lookup(obj: Any, path: str) -> Any:
    """Return the part of an object at a path such as ``.status.phase``; ABSENT if there is none."""
    for name in path.strip(".").split(".") if path.strip(".") else ():
        if not isinstance(obj, dict) or name not in obj:
            return ABSENT
        obj = obj[name]
    return obj


def render(template: Any, obj: Object, inputs: Inputs, item: Any = None) -> Any:
    """Return the template with everything filled in; what stands for nothing is left out."""
    if isinstance(template, str):
        return _text(template, obj, inputs, item)
    if isinstance(template, list):
        items = [render(element, obj, inputs, item) for element in template]
        return [rendered for rendered in items if rendered is not ABSENT]
    if not isinstance(template, dict):
        return template
    if "$each" in template:
        return _for_each(template, obj, inputs)
    result: Object = {}
    for name, inner in template.items():
        value = render(inner, obj, inputs, item)
        if name == "$merge":
            result.update(value if value is not ABSENT else {})
        elif value is not ABSENT:
            result[name] = value
    return result


def _text(template: str, obj: Object, inputs: Inputs, item: Any) -> Any:
    if template.startswith("$."):
        return lookup(obj, template[1:])
    if template.startswith("@."):
        return lookup(item, template[1:])
    if template.startswith("$") and not template.startswith("${"):
        value = inputs.get(template[1:], ABSENT)
        return value(item) if isinstance(value, Callable) else value  # type: ignore[arg-type]
    if "${" in template:
        return _INSIDE.sub(lambda match: str(lookup(item, match[1])), template)
    return template


def _for_each(template: Object, obj: Object, inputs: Inputs) -> Any:
    items = render(template["$each"], obj, inputs)
    if items is ABSENT or not items:
        return ABSENT
    body = {name: inner for name, inner in template.items() if name not in ("$each", "$with")}
    item_inputs = inputs.get(str(template.get("$with", "")).removeprefix("$"))
    return [
        render(body, obj, {**inputs, **(item_inputs(item) if item_inputs is not None else {})}, item)
        for item in items
    ]
