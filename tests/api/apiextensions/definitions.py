"""Definitions for tests."""

from __future__ import annotations

from pybernetes.api.resource import Object

VERSION = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
SPEC = {"group": "a.b", "scope": "Cluster", "names": {"plural": "foos", "kind": "Foo"}, "versions": [VERSION]}
SHORT_NAMED = {
    "metadata": {"name": "foos.a.b"},
    "spec": {**SPEC, "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]}},
}


def make(fields: Object) -> Object:
    """Return a definition with these fields."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "x"},
        **fields,
    }
