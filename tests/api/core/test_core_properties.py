"""No object of the core group, however strange, makes the functions of its kind raise."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from tests import strategies
from tests.api.tried_writes import try_create

KINDS = [
    resource
    for resource in builtin()
    if resource.group in ("", "events.k8s.io") and resource.kind not in ("Pod", "PodTemplate")
]
relaxed = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("resource", KINDS, ids=lambda item: f"{item.kind}-{item.group}")
@relaxed
@given(data=st.data())
def test_writing_never_raises(resource: Resource, data: st.DataObject) -> None:
    obj = data.draw(strategies.kind(resource))
    obj.setdefault("metadata", {})
    try_create(resource, obj)
    if resource.to_storage and resource.from_storage:
        kept = {key for key, value in obj.items() if value != ""}  # a text that is empty may be left out
        assert resource.from_storage(resource.to_storage(obj)).keys() >= kept - {"kind"}


@pytest.mark.parametrize("resource", KINDS, ids=lambda item: f"{item.kind}-{item.group}")
@relaxed
@given(data=st.data(), part=st.booleans())
def test_updates_never_raise(resource: Resource, data: st.DataObject, part: bool) -> None:
    old, new = (data.draw(strategies.kind(resource)) for _ in range(2))
    if part:  # a small change is checked further than another object
        new = {**copy.deepcopy(old), "status": new.get("status", {})}
    for obj in (old, new):
        obj.setdefault("metadata", {})
        if resource.default:
            resource.default(obj)
    errors = Errors()
    for prepare, check in (
        (resource.prepare_update, resource.validate_update),
        (resource.prepare_status_update, resource.validate_status_update),
    ):
        changed = copy.deepcopy(new)
        if prepare:
            prepare(changed, old)
        if check:
            check(changed, old, errors)
    assert all(str(error) for error in errors)
    if resource.warnings:
        resource.warnings(new, old)
