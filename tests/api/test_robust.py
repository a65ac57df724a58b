"""Every hook of a kind takes any object that fits the kind's schema, however odd."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder, Type
from pybernetes.api.table import cells

GROUPS = ("apps", "autoscaling", "batch", "discovery.k8s.io", "networking.k8s.io", "policy", "storage.k8s.io")
KINDS = [resource for resource in builtin() if resource.group in GROUPS]
TEXTS = st.sampled_from(
    ("", "a", "A b", "a/b", "*", "25%", "10.0.0.0/8", "RollingUpdate", "Indexed", "é" * 70)
)
SCALARS: dict[str, Any] = {
    "string": TEXTS,
    "boolean": st.booleans(),
    "integer": st.sampled_from((-1, 0, 1, 80, 2**31 - 1)),
    "number": st.sampled_from((-1.5, 0.0, 3.0)),
    "bytes": st.sampled_from(("", "YQ==")),
    "quantity": st.sampled_from(("0", "-1", "1Gi", "250m")),
    "int-or-string": st.sampled_from((-1, 0, 5, "", "x", "5%", "500%", "http")),
    "time": st.sampled_from(("2024-01-01T00:00:00Z", "2023-06-01T12:00:00Z")),
    "microtime": st.just("2024-01-01T00:00:00.000000Z"),
    "any": st.sampled_from(({}, {"a": 1})),
}


def values(type_: Type, draw: Any, depth: int = 0) -> Any:
    """A value of the type, with most fields left out the deeper it gets."""
    if type_.kind == "struct":
        names = sorted(type_.fields)
        chosen = (
            draw(st.lists(st.sampled_from(names), max_size=8 if depth < 3 else 3, unique=True))
            if names
            else []
        )
        return {name: values(type_.fields[name], draw, depth + 1) for name in chosen}
    if type_.kind == "list":
        return [values(type_.item, draw, depth + 1) for _ in range(draw(st.integers(0, 2)))]  # type: ignore[arg-type]
    if type_.kind == "map":
        return {draw(TEXTS): values(type_.item, draw, depth + 1) for _ in range(draw(st.integers(0, 2)))}  # type: ignore[arg-type]
    if type_.enum and draw(st.booleans()):
        return draw(st.sampled_from(type_.enum))
    return draw(SCALARS[type_.kind])


def an_object(resource: Resource, draw: Any) -> Object:
    """An object as the server hands it to hooks."""
    body = {
        name: values(type_, draw)
        for name, type_ in resource.type.fields.items()
        if name not in ("kind", "apiVersion", "metadata") and draw(st.booleans())
    }
    obj: Object = Decoder().decode(resource.type, body)
    metadata: dict[str, Any] = {"name": draw(TEXTS), "namespace": "default", "uid": "u"}
    if draw(st.booleans()):
        metadata["labels"] = {"a": "b"}
    return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata, **obj}


@pytest.mark.parametrize("resource", KINDS, ids=lambda resource: f"{resource.kind}-{resource.version}")
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_hooks_never_raise(resource: Resource, data: Any) -> None:
    old, new = an_object(resource, data.draw), an_object(resource, data.draw)
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
    created = copy.deepcopy(new)
    if resource.prepare_create:
        resource.prepare_create(created)
    updated = copy.deepcopy(new)
    if resource.prepare_update:
        resource.prepare_update(updated, old)
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
