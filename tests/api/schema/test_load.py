"""Types that are made of the published schemas."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.registry import builtin
from pybernetes.api.schema import DecodeError, Decoder

CRD = next(resource.type for resource in builtin() if resource.kind == "CustomResourceDefinition")
REVISION = next(resource.type for resource in builtin() if resource.kind == "ControllerRevision")


def decode(status: Any) -> Any:
    version = {"name": "v1", "subresources": {"status": status}}
    decoded = Decoder().decode(CRD, {"spec": {"versions": [version]}})
    return decoded["spec"]["versions"][0]["subresources"]


@pytest.mark.parametrize(("value", "result"), [({}, {"status": {}}), ({"x": 1}, {"status": {}}), (None, {})])
def test_an_object_without_properties_is_a_struct_without_fields(value: Any, result: Any) -> None:
    assert decode(value) == result


@pytest.mark.parametrize(("value", "sort"), [(1, "number"), ([], "array"), ("x", "string"), (True, "bool")])
def test_it_holds_nothing_else(value: Any, sort: str) -> None:
    with pytest.raises(
        DecodeError, match=f"cannot unmarshal {sort} into Go struct field .*SubresourceStatus"
    ):
        decode(value)


@pytest.mark.parametrize("value", [1, [], "x", {"x": {"y": 1}}])
def test_raw_extensions_hold_everything(value: Any) -> None:
    assert Decoder().decode(REVISION, {"data": value})["data"] == value
