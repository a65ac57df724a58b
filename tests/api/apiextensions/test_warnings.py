"""CustomResourceDefinition: what a client is warned about."""

from __future__ import annotations

from tests.api import kinds
from tests.api.apiextensions.definitions import SPEC, VERSION, make


def test_warnings() -> None:
    schema = {
        "type": "object",
        "properties": {
            "good": {"type": "string", "format": "date-time"},
            "odd": {"type": "string", "format": "colour"},
            "number": {"type": "integer", "format": "int16"},
            "set": {
                "type": "array",
                "x-kubernetes-list-type": "set",
                "items": {"type": "object", "x-kubernetes-map-type": "atomic"},
            },
        },
    }
    version = {**VERSION, "schema": {"openAPIV3Schema": schema}}
    obj = make({"metadata": {"name": "foos.a.b"}, "spec": {**SPEC, "versions": [version]}})
    warnings = kinds.resource_of(obj).warnings
    assert warnings is not None and kinds.create_errors(obj) == []
    assert warnings(obj, None) == [
        'unrecognized format "colour"',
        'unrecognized format "int16"',
        'x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply '
        "or CEL validation rules",
    ]
    assert warnings(obj, obj) == []
