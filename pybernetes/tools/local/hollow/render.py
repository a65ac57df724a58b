"""Fills in templates: maps and lists in which ``$name`` stands for a fact and ``$.path`` for a part of an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Object = dict[str, Any]
ABSENT: Any = object()
# Facts are values, or functions of the item at hand.
Facts = Mapping[str, Any]


def lookup(obj: Any, path: str) -> Any:
    """Return the part of an object at a path such as ``.status.phase``; ABSENT if there is none."""
    for name in path.strip(".").split(".") if path.strip(".") else ():
        if not isinstance(obj, dict) or name not in obj:
            return ABSENT
        obj = obj[name]
    return obj


def render(template: Any, obj: Object, facts: Facts, item: Any = None) -> Any:
    """Return the template with everything filled in; what stands for nothing is left out."""
    if isinstance(template, str):
        return _text(template, obj, facts, item)
    if isinstance(template, list):
        found = [render(each, obj, facts, item) for each in template]
        return [each for each in found if each is not ABSENT]
    if not isinstance(template, dict):
        return template
    if "$each" in template:
        return _each(template, obj, facts)
    result: Object = {}
    for name, each in template.items():
        value = render(each, obj, facts, item)
        if name == "$merge":
            result.update(value if value is not ABSENT else {})
        elif value is not ABSENT:
            result[name] = value
    return result


def _text(template: str, obj: Object, facts: Facts, item: Any) -> Any:
    if template.startswith("$."):
        return lookup(obj, template[1:])
    if template.startswith("@."):
        return lookup(item, template[1:])
    if template.startswith("$"):
        value = facts.get(template[1:], ABSENT)
        return value(item) if isinstance(value, Callable) else value  # type: ignore[arg-type]
    return template


def _each(template: Object, obj: Object, facts: Facts) -> Any:
    items = render(template["$each"], obj, facts)
    if items is ABSENT or not items:
        return ABSENT
    body = {name: each for name, each in template.items() if name not in ("$each", "$with")}
    more = facts.get(str(template.get("$with", "")).removeprefix("$"))
    return [render(body, obj, {**facts, **(more(item) if more is not None else {})}, item) for item in items]
