"""JSON merge patch (RFC 7386)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pybernetes.api.errors import bad_request
from pybernetes.api.patch.json_patch import ANY_OBJECT, undecodable

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def apply(document: Object, patch: Any) -> Object:
    """Return the document with the patch laid over it: objects merge, null removes, all else replaces."""
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if type(patch) is not dict:
        raise undecodable(patch, ANY_OBJECT)
    return _merge(document, patch)


def _merge(document: Object, patch: Object) -> Object:
    result = document.copy()
    for key, value in patch.items():
        current = result.get(key)
        if value is None:
            result.pop(key, None)
        elif type(current) is not dict:
            result[key] = without_nulls(value)
        elif type(value) is dict:
            result[key] = _merge(current, value)
        else:
            result[key] = value
    return result


def without_nulls(value: Any) -> Any:
    """Return the value without the fields that are null, at any depth; null items of lists stay."""
    if type(value) is dict:
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if type(value) is list:
        return [without_nulls(item) for item in value]
    return value
