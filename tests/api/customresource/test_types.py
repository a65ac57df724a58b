"""The types of custom resources."""

from __future__ import annotations

from typing import Any

from pybernetes.api.customresource import types
from pybernetes.api.resource import Object


def of_spec(**schema: Any) -> Object:
    return {"type": "object", "properties": {"spec": {"type": "object", **schema}}}


def test_types_for_apply() -> None:
    root = types.root(
        of_spec(
            properties={
                "ports": {
                    "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "properties": {"name": {"type": "string"}}},
                },
                "map": {"type": "object", "additionalProperties": {"type": "string"}},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {}},
            }
        )
    )  # fmt: skip
    spec = root.fields["spec"]
    assert spec.fields["ports"].keys == ("name",) and not spec.fields["ports"].atomic
    assert spec.fields["map"].kind == "map" and spec.fields["whole"].atomic
    assert "labels" in root.fields["metadata"].fields
