"""Takes an object, however strange, through everything that a write and its printing call."""

from __future__ import annotations

import copy

from pybernetes.api import table
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource


def try_create(resource: Resource, obj: Object) -> None:
    """Complete, check and print a new object; nothing of it may raise."""
    if resource.default:
        resource.default(obj)
        once = copy.deepcopy(obj)
        resource.default(obj)
        assert obj == once, "defaults must not change what they completed"
    if resource.prepare_create:
        resource.prepare_create(obj)
    errors = Errors()
    for check in (resource.validate, resource.validate_create):
        if check:
            check(obj, errors)
    assert all(str(error) for error in errors)
    if resource.warnings:
        resource.warnings(obj, None)
    table.cells(resource.columns, obj, 1.8e9)
    for read in resource.selectable.values():
        assert isinstance(read(obj), str)
