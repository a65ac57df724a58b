"""What the API server does with a kind's hooks when an object is written, for the tests of kinds."""

from __future__ import annotations

import copy
import re
from typing import Any

from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder
from pybernetes.api.table import cells
from pybernetes.api.validation import meta

_EXPRESSION = re.compile(r" \((e\.g\.|regex used).*")


def decoded(resource: Resource, obj: dict[str, Any]) -> Object:
    """The object as it comes from a client, defaults applied."""
    result: Object = Decoder().decode(resource.type, copy.deepcopy(obj))
    result.update(kind=resource.kind, apiVersion=resource.api_version)
    result.setdefault("metadata", {}).setdefault("name", "name")
    if resource.namespaced:
        result["metadata"]["namespace"] = "default"
    if resource.default:
        resource.default(result)
    return result


def _create(resource: Resource, obj: dict[str, Any]) -> tuple[Object, Errors]:
    result = decoded(resource, obj)
    result["metadata"]["uid"] = "UID"
    if resource.has_status:
        result.pop("status", None)
    if resource.generation:
        result["metadata"]["generation"] = 1
    if resource.prepare_create:
        resource.prepare_create(result)
    errors = Errors()
    meta.validate(resource, result, errors)
    for check in (resource.validate, resource.validate_create):
        if check:
            check(result, errors)
    return result, errors


def _texts(errors: Errors) -> list[str]:
    """The messages, without the examples and regular expressions at their ends."""
    return [_EXPRESSION.sub("", str(error)) for error in errors]


def created(resource: Resource, obj: dict[str, Any]) -> Object:
    """The object as a create stores it; it must be valid."""
    result, errors = _create(resource, obj)
    assert not errors
    return result


def create_errors(resource: Resource, obj: dict[str, Any]) -> list[str]:
    """What a create complains about."""
    return _texts(_create(resource, obj)[1])


def updated(resource: Resource, old: dict[str, Any], new: dict[str, Any]) -> tuple[Object, list[str]]:
    """The object as an update leaves it, and what the update complains about."""
    before = created(resource, old)
    after = decoded(resource, new)
    after["metadata"] = {**before["metadata"], **after["metadata"]}
    if "status" in before:
        after["status"] = before["status"]
    if resource.prepare_update:
        resource.prepare_update(after, before)
    errors = Errors()
    if resource.validate:
        resource.validate(after, errors)
    if resource.validate_update:
        resource.validate_update(after, before, errors)
    return after, _texts(errors)


def update_errors(resource: Resource, old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What an update complains about."""
    return updated(resource, old, new)[1]


def status_errors(
    resource: Resource, obj: dict[str, Any], status: dict[str, Any], old: dict[str, Any] | None = None
) -> list[str]:
    """What a write of the status complains about."""
    before = created(resource, obj)
    before["status"] = old if old is not None else before["status"]
    after = decoded(resource, {**before, "status": status})
    errors = Errors()
    assert resource.validate_status_update
    resource.validate_status_update(after, before, errors)
    return _texts(errors)


def row(resource: Resource, obj: dict[str, Any], now: float = 0.0) -> list[Any]:
    """The cells of the object, without its age."""
    shown = cells(resource.columns, {"metadata": {"name": "name"}, **obj}, now)
    names = [column.name for column in resource.columns]
    return [cell for cell, name in zip(shown, names, strict=True) if name != "Age"]
