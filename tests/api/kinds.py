"""What a write does to an object of a kind, without an API server: for tables of objects and complaints."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from pybernetes.api import table
from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder
from pybernetes.api.validation import meta

CREATED = "2026-01-02T03:04:05Z"
NOW = table.epoch(CREATED) + 90
# Complaints about names end with a pattern, which would fill the tables.
_PATTERN = re.compile(r" \((e\.g\. .*?)?regex used for validation is '.*?'\)")


def resource_of(obj: Object) -> Resource:
    """The kind of an object."""
    for resource in builtin():
        if resource.api_version == obj["apiVersion"] and resource.kind == obj["kind"]:
            return resource
    raise KeyError(f"{obj['apiVersion']} {obj['kind']}")


def complete(obj: Object) -> Object:
    """The object as a client's write brings it: decoded and with defaults."""
    resource = resource_of(obj)
    result = Decoder().decode(resource.type, deepcopy(obj))
    if resource.namespaced:
        result["metadata"].setdefault("namespace", "default")
    if resource.default:
        resource.default(result)
    return result


def created(obj: Object) -> Object:
    """The object as a create would store it, but for what the API server adds to all kinds."""
    resource, result = resource_of(obj), complete(obj)
    if resource.has_status and not resource.status_on_create:
        result.pop("status", None)
    if resource.prepare_create:
        resource.prepare_create(result)
    return result


def _texts(errors: Errors) -> list[str]:
    return [_PATTERN.sub("", str(error)) for error in errors]


def create_errors(obj: Object) -> list[str]:
    """The complaints of a create, without patterns."""
    resource, new, errors = resource_of(obj), created(obj), Errors()
    meta.validate(resource, new, errors)
    for check in (resource.validate, resource.validate_create):
        if check:
            check(new, errors)
    return _texts(errors)


def update_errors(obj: Object, change: dict[str, Any]) -> list[str]:
    """The complaints of an update that sets fields of the object, given by dotted paths."""
    resource, old = resource_of(obj), created(obj)
    new = _changed(old, change)
    if resource.prepare_update:
        resource.prepare_update(new, old)
    errors = Errors()
    if resource.validate:
        resource.validate(new, errors)
    if resource.validate_update:
        resource.validate_update(new, old, errors)
    return _texts(errors)


def status_errors(obj: Object, status: Any, before: Any = None) -> list[str]:
    """The complaints of a write of the status."""
    resource, old = resource_of(obj), created(obj)
    old["status"] = before or {}
    new = {**deepcopy(old), "status": deepcopy(status)}
    if resource.prepare_status_update:
        resource.prepare_status_update(new, old)
    errors = Errors()
    if resource.validate_status_update:
        resource.validate_status_update(new, old, errors)
    return _texts(errors)


def _changed(obj: Object, change: dict[str, Any]) -> Object:
    new = deepcopy(obj)
    for path, value in change.items():
        *parents, last = path.split(".")
        node: Any = new
        for part in parents:
            node = node[int(part)] if part.isdigit() else node.setdefault(part, {})
        if value is None:
            node.pop(last, None)
        else:
            node[int(last) if last.isdigit() else last] = value
    return complete(new)


def cells(obj: Object) -> list[Any]:
    """The row of an object that was created 90 seconds ago."""
    resource, row = resource_of(obj), complete(obj)
    row["metadata"]["creationTimestamp"] = CREATED
    return table.cells(resource.columns or table.PLAIN, row, NOW)
