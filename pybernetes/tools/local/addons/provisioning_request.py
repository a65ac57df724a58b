"""The definition of ProvisioningRequest (autoscaling.x-k8s.io/v1, and v1beta1), as an addon."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, Ref
from pybernetes.tools.local.addons.definition_schema import conditions, described

_GROUP, _PLURAL = "autoscaling.x-k8s.io", "provisioningrequests"
_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_FIXED = {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "Value is immutable"}]}


def _spec() -> Object:
    name = {"type": "string", "maxLength": 253, "pattern": _NAME}
    pod_set = described(
        {
            "count": {"type": "integer", "format": "int32", "minimum": 1},
            "podTemplateRef": described({"name": name}, "name"),
        },
        "count", "podTemplateRef",
    )  # fmt: skip
    texts = {
        "type": "object",
        "maxProperties": 100,
        "additionalProperties": {"type": "string", "maxLength": 255},
    }
    return described(
        {
            "podSets": {"type": "array", "items": pod_set, "minItems": 1, "maxItems": 32, **_FIXED},
            "provisioningClassName": {**name, **_FIXED},
            "parameters": {**texts, **_FIXED},
        },
        "podSets", "provisioningClassName",
    )  # fmt: skip


def _status() -> Object:
    details = {
        "type": "object",
        "maxProperties": 64,
        "additionalProperties": {"type": "string", "maxLength": 32768},
    }
    return described({"conditions": conditions(), "provisioningClassDetails": details})


def definition() -> list[tuple[Ref, Object]]:
    """Return the objects of the addon."""
    schema = described({
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
        "spec": _spec(), "status": _status(),
    }, "spec")  # fmt: skip
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    versions: list[Object] = [
        {
            "name": name, "served": True, "storage": name == "v1", "subresources": {"status": {}},
            "additionalPrinterColumns": [age], "schema": {"openAPIV3Schema": schema},
        }
        for name in ("v1", "v1beta1")
    ]  # fmt: skip
    names = {
        "kind": "ProvisioningRequest", "listKind": "ProvisioningRequestList", "plural": _PLURAL,
        "singular": "provisioningrequest", "shortNames": ["provreq", "provreqs"],
    }  # fmt: skip
    spec = {"group": _GROUP, "scope": "Namespaced", "names": names, "versions": versions}
    return [(CUSTOM_RESOURCE_DEFINITIONS, {"metadata": {"name": f"{_PLURAL}.{_GROUP}"}, "spec": spec})]
