"""What a write does to an object that names its kind: for tables of objects and errors."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

from pybernetes.api import table
from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object, Resource
from tests.api import hooks

CREATED = "2026-01-02T03:04:05Z"
NOW = table.epoch(CREATED) + 90
# Errors about names end with a pattern, which would fill the tables.
_PATTERN = re.compile(r" \((e\.g\. .*?)?regex used for validation is '.*?'\)")


def make(api_version: str, kind: str, fields: Object) -> Object:
    """Return an object of a kind, named x unless the fields say otherwise."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields}


def resource_of(obj: Object) -> Resource:
    """Return the kind of an object."""
    for resource in builtin():
        if resource.api_version == obj["apiVersion"] and resource.kind == obj["kind"]:
            return resource
    raise KeyError(f"{obj['apiVersion']} {obj['kind']}")


def complete(obj: Object) -> Object:
    """Return the object as a client's write brings it: decoded and with defaults."""
    return hooks.complete(resource_of(obj), obj)


def created(obj: Object) -> Object:
    """Return the object as a create would store it, but for what the API server adds to all kinds."""
    return hooks.prepare_create(resource_of(obj), complete(obj))


def _texts(errors: Errors) -> list[str]:
    return [_PATTERN.sub("", str(error)) for error in errors]


def create_errors(obj: Object) -> list[str]:
    """Return the errors of a create, without patterns."""
    return _texts(hooks.create_errors(resource_of(obj), created(obj)))


def update_errors(obj: Object, changes: Object) -> list[str]:
    """Return the errors of an update that sets fields of the object, given by dotted paths."""
    old = created(obj)
    return _texts(hooks.update_errors(resource_of(obj), complete(hooks.changed(old, changes)), old))


def status_errors(obj: Object, status: Any, before: Any = None) -> list[str]:
    """Return the errors of a write of the status."""
    old = {**created(obj), "status": before or {}}
    return _texts(hooks.status_errors(resource_of(obj), {**deepcopy(old), "status": deepcopy(status)}, old))


def cells(obj: Object) -> list[Any]:
    """Return the row of an object that was created 90 seconds ago."""
    resource, row = resource_of(obj), complete(obj)
    row["metadata"]["creationTimestamp"] = CREATED
    return table.cells(resource.columns or table.PLAIN, row, NOW)
