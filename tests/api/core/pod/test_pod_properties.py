"""No pod, however strange, makes the functions of the kind raise."""

from __future__ import annotations

import copy

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api import schema
from pybernetes.api.core import podtemplate
from pybernetes.api.core.pod import pod
from pybernetes.api.core.pod.prepare import prepare_ephemeral_containers, prepare_resize
from pybernetes.api.core.pod.validation.resize import validate_resize
from pybernetes.api.core.pod.validation.update import validate_ephemeral_containers_update
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource
from tests import strategies
from tests.api.tried_writes import try_create

PODS = strategies.kind(pod.RESOURCE)
SPEC = schema.kind_type("", "v1", "Pod").fields["spec"]
relaxed = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.mark.parametrize("resource", [pod.RESOURCE, podtemplate.RESOURCE], ids=lambda item: item.kind)
@relaxed
@given(data=st.data())
def test_writing_never_raises(resource: Resource, data: st.DataObject) -> None:
    try_create(resource, data.draw(strategies.kind(resource)))


@relaxed
@given(spec=strategies.objects(SPEC))
def test_spec_never_raises(spec: Object) -> None:
    try_create(pod.RESOURCE, {"metadata": {"name": "p"}, "spec": spec})


@relaxed
@given(old=PODS, new=PODS, whole=st.booleans())
def test_updates_never_raise(old: Object, new: Object, whole: bool) -> None:
    resource = pod.RESOURCE
    assert resource.default and resource.validate_update and resource.validate_status_update
    if not whole:  # a small change is checked further than another pod
        new = {**copy.deepcopy(old), "status": new.get("status", {})}
    for obj in (old, new):
        resource.default(obj)
    errors = Errors()
    for prepare, check in (
        (resource.prepare_update, resource.validate_update),
        (resource.prepare_status_update, resource.validate_status_update),
        (prepare_ephemeral_containers, validate_ephemeral_containers_update),
        (prepare_resize, validate_resize),
    ):
        changed = copy.deepcopy(new)
        assert prepare
        prepare(changed, old)
        check(changed, old, errors)
    assert all(str(error) for error in errors)
    assert resource.grace_period
    assert resource.grace_period(new, None) >= 0
