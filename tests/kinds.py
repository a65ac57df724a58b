"""Takes objects through what a kind does in a write, without an API server."""

from __future__ import annotations

import copy
from typing import Any

from pybernetes.api import table
from pybernetes.api.field import Errors
from pybernetes.api.resource import Resource
from pybernetes.api.schema.decode import Decoder

Object = dict[str, Any]
NOW = 1_800_000_000.0


def decoded(resource: Resource, obj: Object) -> Object:
    """The object as the kind's functions get it."""
    full = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {}, **copy.deepcopy(obj)}
    full["metadata"] = {
        "name": "x",
        **({"namespace": "default"} if resource.namespaced else {}),
        **full["metadata"],
    }
    return Decoder().decode(resource.type, full)


def create(resource: Resource, obj: Object) -> tuple[Object, list[str]]:
    """A new object and the errors about it."""
    new = decoded(resource, obj)
    if resource.default:
        resource.default(new)
    if resource.has_status and not resource.status_on_create:
        new.pop("status", None)
    if resource.prepare_create:
        resource.prepare_create(new)
    errors = Errors()
    for check in (resource.validate, resource.validate_create):
        if check:
            check(new, errors)
    return new, [str(error) for error in errors]


def update(resource: Resource, old: Object, changes: Object) -> tuple[Object, list[str]]:
    """An object with some parts replaced, and the errors about that; a part that is None is left out."""
    new = _changed(resource, old, changes)
    if resource.has_status and "status" in old:
        new["status"] = copy.deepcopy(old["status"])
    if resource.prepare_update:
        resource.prepare_update(new, old)
    errors = Errors()
    if resource.validate:
        resource.validate(new, errors)
    if resource.validate_update:
        resource.validate_update(new, old, errors)
    return new, [str(error) for error in errors]


def update_status(resource: Resource, old: Object, status: Object) -> tuple[Object, list[str]]:
    """An object with another status, and the errors about that."""
    new = {**copy.deepcopy(old), "status": decoded(resource, {"status": status})["status"]}
    if resource.default:
        resource.default(new)
    if resource.prepare_status_update:
        resource.prepare_status_update(new, old)
    errors = Errors()
    if resource.validate_status_update:
        resource.validate_status_update(new, old, errors)
    return new, [str(error) for error in errors]


def _changed(resource: Resource, old: Object, changes: Object) -> Object:
    new = copy.deepcopy(old)
    for key, value in changes.items():
        held, last = new, key
        if "." in key:
            first, last = key.split(".")
            held = new.setdefault(first, {})
        if value is None:
            held.pop(last, None)
        else:
            held[last] = copy.deepcopy(value)
    new = decoded(resource, new)
    if resource.default:
        resource.default(new)
    return new


def row(resource: Resource, obj: Object) -> dict[str, Any]:
    """What is printed of an object, by column; ages are left out."""
    columns = resource.columns
    cells = table.cells(columns, obj, NOW)
    return {c.name: cell for c, cell in zip(columns, cells, strict=True) if c.name != "Age"}
