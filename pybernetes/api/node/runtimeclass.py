"""RuntimeClass: a container runtime that pods can choose."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.node import GROUP
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import meta, names

_SCHEDULING = Path("scheduling")


def validate(obj: Object, errors: Errors) -> None:
    """Checks the handler, the overhead and where its pods may run."""
    selector = obj.get("scheduling", {}).get("nodeSelector")
    if selector:
        meta.check_labels(selector, _SCHEDULING / "nodeSelector", errors)
    handler = obj.get("handler", "")
    if not handler:
        errors.required(Path("handler"))
    else:
        for problem in names.dns_label(handler):
            errors.invalid(Path("handler"), handler, problem)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Checks that the handler stays."""
    meta.immutable(new.get("handler", ""), old.get("handler", ""), Path("handler"), errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="RuntimeClass",
    plural="runtimeclasses",
    namespaced=False,
    columns=(NAME, Column("Handler", lambda obj, now: obj.get("handler", "")), AGE),
    create_on_update=True,
    unconditional_update=False,
    validate=validate,
    validate_update=validate_update,
)
