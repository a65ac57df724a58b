"""Defaults of claims to storage: of the kind, and of the templates inside other kinds."""

from __future__ import annotations

from pybernetes.api.defaults.resources import default_requirements
from pybernetes.api.resource import Object


def default_claim_spec(spec: Object) -> None:
    """Complete the spec of a PersistentVolumeClaim."""
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("resources", {})  # Go writes this struct even when it is empty
    default_requirements(spec)
