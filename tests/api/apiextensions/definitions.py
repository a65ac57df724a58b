"""Definitions for tests."""

from __future__ import annotations

from functools import partial

from pybernetes.api.resource import Object
from tests.api import kinds

VERSION: Object = {
    "name": "v1",
    "served": True,
    "storage": True,
    "schema": {"openAPIV3Schema": {"type": "object"}},
}
SPEC: Object = {
    "group": "a.b",
    "scope": "Cluster",
    "names": {"plural": "foos", "kind": "Foo"},
    "versions": [VERSION],
}
SHORT_NAMED: Object = {
    "metadata": {"name": "foos.a.b"},
    "spec": {**SPEC, "names": {"plural": "foos", "kind": "Foo", "shortNames": ["fo", "f"]}},
}


make = partial(kinds.make, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
