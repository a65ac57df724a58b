"""The rules of updates: what they do to a new object they never do to the stored one, which admission sees next."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api.errors import StatusError
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.storage.update_rules import OwnRules, StatusRules, UpdateRules
from tests import strategies

KINDS = [resource for resource in builtin() if "update" in resource.verbs]


@pytest.mark.parametrize("resource", KINDS, ids=lambda resource: f"{resource.kind}-{resource.version}")
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_stored_object_stays_as_it_is(resource: Resource, data: Any) -> None:
    """Validation changed the old object before validating admission saw it (CVE-2021-25735)."""
    drawn = data.draw(strategies.kind(resource)), data.draw(strategies.kind(resource))
    for obj in drawn:
        obj.setdefault("metadata", {})
        if resource.default:
            resource.default(obj)
    rules = [UpdateRules(resource), StatusRules(resource)]
    rules += [OwnRules(resource, own, name) for name, own in resource.rules.items()]
    for rule in rules:
        old, new = map(copy.deepcopy, drawn)
        rule.prepare(new, old)
        with suppress(StatusError):
            rule.check(new, old)
        assert old == drawn[0], type(rule).__name__
