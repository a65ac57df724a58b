"""Defaults of a structural schema."""

from __future__ import annotations

import copy
from typing import Any

from pybernetes.api.resource import Object


def has_defaults(schema: Any) -> bool:
    """Return whether there is a default anywhere in a schema; most have none, and then nobody has to look."""
    if type(schema) is not dict:
        return False
    if schema.get("default") is not None:
        return True
    if any(has_defaults(child) for child in (schema.get("properties") or {}).values()):
        return True
    return has_defaults(schema.get("items")) or has_defaults(schema.get("additionalProperties"))


def apply(schema: Object | None, value: Any) -> None:
    """Complete a value in place: what is missing, or null where it may not be, gets its default."""
    if not schema:
        return
    if type(value) is dict:
        for key, child in (schema.get("properties") or {}).items():
            if key not in value or (value[key] is None and not child.get("nullable")):
                default = child.get("default")
                if default is None:
                    continue
                value[key] = copy.deepcopy(default)
            if type(value[key]) in (dict, list):
                apply(child, value[key])
        additional = schema.get("additionalProperties")
        if type(additional) is dict:
            known = schema.get("properties") or {}
            default = additional.get("default")
            for key, item in value.items():
                if key in known:
                    continue
                if item is None and not additional.get("nullable") and default is not None:
                    value[key] = item = copy.deepcopy(default)
                apply(additional, item)
    elif type(value) is list:
        items = schema.get("items") or {}
        default = items.get("default")
        for index, item in enumerate(value):
            if item is None and not items.get("nullable") and default is not None:
                value[index] = item = copy.deepcopy(default)
            apply(items, item)
