"""ControllerRevision: what a controller's template was at one time."""

from __future__ import annotations

from pybernetes.api.errors import qualified
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import meta, numbers


def default(obj: Object) -> None:
    """Write the number even if it is zero."""
    obj.setdefault("revision", 0)


def validate(obj: Object, errors: Errors) -> None:
    """Check the number."""
    numbers.nonnegative(obj.get("revision", 0), Path("revision"), errors)


def validate_create(obj: Object, errors: Errors) -> None:
    """Check that there is an object to remember."""
    data = obj.get("data")
    if data is None:
        errors.required(Path("data"), "data is mandatory")
    elif not isinstance(data, dict):
        errors.required(Path("data"), "data must be a valid JSON object")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that what is remembered stays."""
    meta.immutable(new.get("data"), old.get("data"), Path("data"), errors)


def _controller(obj: Object, now: float) -> str:
    for owner in obj["metadata"].get("ownerReferences", ()):
        if owner.get("controller"):
            group = owner.get("apiVersion", "").rpartition("/")[0]
            return f"{qualified(group, owner.get('kind', '').lower())}/{owner.get('name', '')}"
    return "<none>"


RESOURCE = Resource(
    group="apps",
    version="v1",
    kind="ControllerRevision",
    plural="controllerrevisions",
    columns=(
        NAME,
        Column("Controller", _controller),
        Column("Revision", lambda obj, now: obj.get("revision", 0)),
        AGE,
    ),
    default=default,
    validate=validate,
    validate_create=validate_create,
    validate_update=validate_update,
)
