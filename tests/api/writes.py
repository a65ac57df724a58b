"""What a write does to an object of a given kind, whose name and namespace do not matter."""

from __future__ import annotations

import copy
import re
from typing import Any

from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.table import cells
from tests.api import hooks

NOW = 1_800_000_000.0
_EXPRESSION = re.compile(r" \((e\.g\.|regex used).*")


def decoded(resource: Resource, obj: Object, name: str = "name") -> Object:
    """Return the object as it comes from a client, defaults applied; without a name it gets this one."""
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    return hooks.complete(resource, {**obj, **head, "metadata": {"name": name, **obj.get("metadata", {})}})


def _new(resource: Resource, obj: Object, name: str = "name") -> Object:
    new = decoded(resource, obj, name)
    new["metadata"]["uid"] = "UID"
    if resource.generation:
        new["metadata"]["generation"] = 1
    return hooks.prepare_create(resource, new)


def _texts(errors: Errors) -> list[str]:
    """Return the messages, without the examples and regular expressions at their ends."""
    return [_EXPRESSION.sub("", str(error)) for error in errors]


def create(resource: Resource, obj: Object) -> tuple[Object, list[str]]:
    """Return a new object, x if it has no name, and the errors about it, but for those about its metadata."""
    new = _new(resource, obj, "x")
    return new, [str(error) for error in hooks.create_errors(resource, new, metadata=False)]


def created(resource: Resource, obj: Object) -> Object:
    """Return the object as a create stores it; it must be valid."""
    new = _new(resource, obj)
    assert not hooks.create_errors(resource, new)
    return new


def create_errors(resource: Resource, obj: Object) -> list[str]:
    """Return the errors of a create."""
    return _texts(hooks.create_errors(resource, _new(resource, obj)))


def update(resource: Resource, old: Object, changes: Object) -> tuple[Object, list[str]]:
    """Return an object with fields set, given by dotted paths, and the errors about that."""
    new = decoded(resource, hooks.changed(old, changes))
    if resource.has_status and "status" in old:
        new["status"] = copy.deepcopy(old["status"])
    return new, [str(error) for error in hooks.update_errors(resource, new, old)]


def updated(resource: Resource, old: Object, new: Object) -> tuple[Object, list[str]]:
    """Return the object as an update with another one leaves it, and the errors of the update."""
    before, after = created(resource, old), decoded(resource, new)
    after["metadata"] = {**before["metadata"], **after["metadata"]}
    if "status" in before:
        after["status"] = before["status"]
    return after, _texts(hooks.update_errors(resource, after, before))


def update_errors(resource: Resource, old: Object, new: Object) -> list[str]:
    """Return the errors of an update."""
    return updated(resource, old, new)[1]


def update_status(resource: Resource, old: Object, status: Object) -> tuple[Object, list[str]]:
    """Return an object with another status, and the errors about that."""
    new = decoded(resource, {**old, "status": status})
    return new, [str(error) for error in hooks.status_errors(resource, new, old)]


def status_errors(resource: Resource, obj: Object, status: Object, old: Object | None = None) -> list[str]:
    """Return the errors of a write of the status."""
    before = created(resource, obj)
    before["status"] = old if old is not None else before["status"]
    after = decoded(resource, {**before, "status": status})
    return _texts(hooks.status_errors(resource, after, before))


def row(resource: Resource, obj: Object, now: float = 0.0) -> list[Any]:
    """Return the cells of the object, without its age."""
    return list(row_by_name(resource, {"metadata": {"name": "name"}, **obj}, now).values())


def row_by_name(resource: Resource, obj: Object, now: float = NOW) -> Object:
    """Return the cells of the object by the names of their columns, without its age."""
    shown = zip(resource.columns, cells(resource.columns, obj, now), strict=True)
    return {column.name: cell for column, cell in shown if column.name != "Age"}
