"""Slices for tests."""

from __future__ import annotations

from pybernetes.api.resource import Object


def make(fields: Object) -> Object:
    """Return a slice with these fields."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "x"}, **fields}
