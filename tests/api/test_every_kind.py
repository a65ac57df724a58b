"""What must hold for every built-in kind: a valid object is accepted, completed once, and printed."""

from __future__ import annotations

from copy import deepcopy

import pytest

from pybernetes.api import table
from pybernetes.api.field import Errors
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object
from tests.api import kinds
from tests.api.examples import every_example

EXAMPLES = [
    pytest.param(example, id=f"{example['apiVersion']}-{example['kind']}") for example in every_example()
]


def test_every_kind_has_an_example() -> None:
    have = {(example["apiVersion"], example["kind"]) for example in every_example()}
    assert have == {(resource.api_version, resource.kind) for resource in builtin()}


@pytest.mark.parametrize("example", EXAMPLES)
def test_is_accepted(example: Object) -> None:
    resource = kinds.resource_of(example)
    if resource.verbs == ("create",):  # asked and answered: has no name
        obj, errors = kinds.created(example), Errors()
        if resource.validate:
            resource.validate(obj, errors)
        assert errors == []
    else:
        assert kinds.create_errors(example) == []


@pytest.mark.parametrize("example", EXAMPLES)
def test_is_completed_once(example: Object) -> None:
    resource, obj = kinds.resource_of(example), kinds.complete(example)
    again = deepcopy(obj)
    if resource.default:
        resource.default(again)
    assert again == obj


@pytest.mark.parametrize("example", EXAMPLES)
def test_may_be_written_again(example: Object) -> None:
    resource, old = kinds.resource_of(example), kinds.created(example)
    if "update" not in resource.verbs:
        return
    old["metadata"] |= {"uid": "1", "resourceVersion": "1"}
    new, errors = deepcopy(old), Errors()
    if resource.prepare_update:
        resource.prepare_update(new, old)
    if resource.validate:
        resource.validate(new, errors)
    if resource.validate_update:
        resource.validate_update(new, old, errors)
    assert (new, errors) == (old, [])


# Upstream declares some numbers as text, and writes some booleans as text.
_CELLS: dict[str, tuple[type, ...]] = {
    "string": (str, int),
    "integer": (int,),
    "boolean": (bool, str),
    "date": (str,),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_is_printed(example: Object) -> None:
    row = kinds.cells(example)
    columns = table.definitions(kinds.resource_of(example))
    assert len(row) == len(columns)
    for cell, column in zip(row, columns, strict=True):
        # A review has no name.
        allowed = _CELLS[column["type"]]
        assert isinstance(cell, allowed) or not example["metadata"].get("name"), column
