"""Every hook of a kind takes any object that fits the kind's schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from pybernetes.api.table import cells
from tests import strategies

KINDS = builtin()


@pytest.mark.parametrize("resource", KINDS, ids=lambda resource: f"{resource.kind}-{resource.version}")
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_hooks_never_raise(resource: Resource, data: Any) -> None:
    old, new = data.draw(strategies.kind(resource)), data.draw(strategies.kind(resource))
    for obj in (old, new):
        for hook in (resource.validate, resource.validate_create):
            if hook:
                hook(copy.deepcopy(obj), Errors())  # also without defaults
        cells(resource.columns, obj, 0.0)
        for select in resource.selectable.values():
            assert isinstance(select(obj), str)
        if resource.default:
            resource.default(obj)
            again = copy.deepcopy(obj)
            resource.default(again)
            assert again == obj, "defaults must not change what they made"
        cells(resource.columns, obj, 0.0)
    if resource.to_storage and resource.from_storage:
        resource.from_storage(resource.to_storage(old))
    created, updated = copy.deepcopy(new), copy.deepcopy(new)
    if resource.prepare_create:
        resource.prepare_create(created)
    for prepare in (resource.prepare_update, resource.prepare_status_update):
        if prepare:
            prepare(updated, old)
    errors = Errors()
    for check in (resource.validate, resource.validate_create):
        if check:
            check(created, errors)
    for compare in (resource.validate_update, resource.validate_status_update):
        if compare:
            compare(updated, old, errors)
    if resource.warnings:
        resource.warnings(created, None)
        resource.warnings(updated, old)
    assert all(str(error) for error in errors)
