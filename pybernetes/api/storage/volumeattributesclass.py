"""VolumeAttributesClass: properties of a volume that can change while it exists."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.storage import _common
from pybernetes.api.table import AGE, NAME


def validate(obj: Object, errors: Errors) -> None:
    """Check the driver and that there are parameters."""
    driver, parameters = obj.get("driverName", ""), obj.get("parameters", {})
    if not driver:
        errors.required(Path("driverName"))
    _common.provisioner(driver, Path("driverName"), errors)
    _common.parameters(parameters, Path("parameters"), errors)
    if not parameters:
        errors.required(Path("parameters"), "must contain at least one key/value pair")


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that nothing of it changes."""
    for key in ("driverName", "parameters"):
        if new.get(key) != old.get(key):
            errors.forbidden(Path(key), f"updates to {key} are forbidden.")


RESOURCE = Resource(
    group="storage.k8s.io",
    version="v1",
    kind="VolumeAttributesClass",
    plural="volumeattributesclasses",
    short_names=("vac",),
    namespaced=False,
    columns=(NAME, Column("DriverName", lambda obj, now: obj.get("driverName", "")), AGE),
    validate=validate,
    validate_update=validate_update,
)
