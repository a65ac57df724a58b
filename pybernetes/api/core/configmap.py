"""ConfigMap: configuration that pods read."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import checks, names

_SIZE_LIMIT = 1024 * 1024


def validate(obj: Object, errors: Errors) -> None:
    """Check the keys and the size of the data."""
    data, binary = obj.get("data", {}), obj.get("binaryData", {})
    size = 0
    for key, value in data.items():
        checks.name(names.config_map_key, key, Path("data")[key], errors)
        if key in binary:
            errors.invalid(Path("data")[key], key, "duplicate of key present in binaryData")
        size += len(value.encode())
    for key, value in binary.items():
        checks.name(names.config_map_key, key, Path("binaryData")[key], errors)
        size += len(value) * 3 // 4 - value.count("=")
    if size > _SIZE_LIMIT:
        errors.too_long(Path(""), _SIZE_LIMIT)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that what is immutable stays."""
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        errors.forbidden(Path("immutable"), "field is immutable when `immutable` is set")
    for key in ("data", "binaryData"):
        if new.get(key) != old.get(key):
            errors.forbidden(Path(key), "field is immutable when `immutable` is set")


RESOURCE = Resource(
    group="",
    version="v1",
    kind="ConfigMap",
    plural="configmaps",
    short_names=("cm",),
    columns=(
        NAME,
        Column("Data", lambda obj, now: len(obj.get("data", {})) + len(obj.get("binaryData", {}))),
        AGE,
    ),
    validate=validate,
    validate_update=validate_update,
)
