"""Binding: the assignment of a pod to a node; created, never stored."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import checks, names

_TARGET = Path("target")


def validate(obj: Object, errors: Errors) -> None:
    """Check that the target is a node."""
    target = obj.get("target", {})
    kind, name = target.get("kind", ""), target.get("name", "")
    if kind not in ("", "Node"):
        errors.unsupported(_TARGET / "kind", kind, ("Node", "<empty>"))
    if not name:
        errors.required(_TARGET / "name")
    elif kind in ("", "Node"):
        checks.name(names.dns_subdomain, name, _TARGET / "name", errors)


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Binding",
    plural="bindings",
    verbs=("create",),
    validate=validate,
)
