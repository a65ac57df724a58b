from __future__ import annotations

from typing import Any

from pybernetes.client.refs import DEPLOYMENTS
from pybernetes.control_plane.federation.federated_definition import federated_definition
from pybernetes.control_plane.federation.type_config import for_target

SCHEMAS: dict[str, Any] = {
    "Meta": {"type": "object", "properties": {"name": {"type": "string"}}},
    "Spec": {
        "type": "object",
        "required": ["selector"],
        "properties": {
            "replicas": {"type": "integer", "format": "int32", "default": 1},
            "selector": {"allOf": [{"$ref": "Selector"}], "default": {}},
            "surge": {"oneOf": [{"type": "integer"}, {"type": "string"}], "format": "int-or-string"},
            "list": {"type": "array", "items": {"type": "string"}},
        },
    },
    "Selector": {"type": "object", "properties": {"x": {"type": "string"}}},
}
TARGET = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"allOf": [{"$ref": "Meta"}]},
        "spec": {"allOf": [{"$ref": "Spec"}]}, "status": {"type": "object"}, "data": {"type": "object", "additionalProperties": {}},
    },
}  # fmt: skip


def test_the_definition_has_the_shape_of_its_target() -> None:
    made = federated_definition(for_target(DEPLOYMENTS), TARGET, SCHEMAS.__getitem__, ("deploy",))
    assert made["metadata"]["name"] == "federateddeployments.types.kubefed.io"
    assert made["spec"]["names"]["shortNames"] == ["fdeploy"]
    spec = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    template = spec["template"]["properties"]
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    assert template == {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object", **anything},
        "data": {"type": "object", **anything},
        "spec": {
            "type": "object",
            "properties": {
                "replicas": {"type": "integer", "format": "int32"},
                "selector": {"type": "object", **anything},
                "surge": {"x-kubernetes-int-or-string": True},
                "list": {"type": "array", "items": anything},
            },
        },
    }
    assert spec["retainReplicas"] == {"type": "boolean"}


def test_a_kind_without_a_schema_takes_anything() -> None:
    made = federated_definition(for_target(DEPLOYMENTS), {"type": "object"}, SCHEMAS.__getitem__)
    spec = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert spec["template"] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert "retainReplicas" not in spec
