"""What the API server does with the hooks of a kind when an object is written."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder
from pybernetes.api.validation import meta


def complete(resource: Resource, obj: Object) -> Object:
    """Return the object as a client's write brings it: decoded, in a namespace and with defaults."""
    result: Object = Decoder().decode(resource.type, deepcopy(obj))
    if resource.namespaced:
        result["metadata"].setdefault("namespace", "default")
    if resource.default:
        resource.default(result)
    return result


def prepare_create(resource: Resource, new: Object) -> Object:
    """Return the object, changed in place to what a create would store."""
    if resource.has_status and not resource.status_on_create:
        new.pop("status", None)
    if resource.prepare_create:
        resource.prepare_create(new)
    return new


def create_errors(resource: Resource, new: Object, metadata: bool = True) -> Errors:
    """Return the errors about a new object; those about its metadata only if asked for."""
    errors = Errors()
    if metadata:
        meta.validate(resource, new, errors)
    for check in (resource.validate, resource.validate_create):
        if check:
            check(new, errors)
    return errors


def update_errors(resource: Resource, new: Object, old: Object) -> Errors:
    """Prepare an update in place, and return the errors about it."""
    if resource.prepare_update:
        resource.prepare_update(new, old)
    errors = Errors()
    if resource.validate:
        resource.validate(new, errors)
    if resource.validate_update:
        resource.validate_update(new, old, errors)
    return errors


def status_errors(resource: Resource, new: Object, old: Object) -> Errors:
    """Prepare a write of the status in place, and return the errors about it."""
    if resource.prepare_status_update:
        resource.prepare_status_update(new, old)
    errors = Errors()
    if resource.validate_status_update:
        resource.validate_status_update(new, old, errors)
    return errors


def changed(obj: Object, changes: Object) -> Object:
    """Return a copy with fields set, given by dotted paths; a number is an index, None removes a field."""
    new = deepcopy(obj)
    for path, value in changes.items():
        *parents, last = path.split(".")
        holder: Any = new
        for part in parents:
            holder = holder[int(part)] if part.isdigit() else holder.setdefault(part, {})
        if value is None:
            holder.pop(last, None)
        else:
            holder[int(last) if last.isdigit() else last] = deepcopy(value)
    return new
