"""StorageVersionMigration: rewrite every object of a resource in its current storage version."""

from __future__ import annotations

import re

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.storagemigration import GROUP
from pybernetes.api.table import get
from pybernetes.api.text import go_format
from pybernetes.api.validation import meta, names
from pybernetes.api.validation.conditions import validate_conditions

_RESOURCE = Path("spec") / "resource"
_STATUS = Path("status")
_VERSION = re.compile("[1-9][0-9]*")


def default(obj: Object) -> None:
    """Complete the names of the group and the resource, which are always shown."""
    resource = obj.setdefault("spec", {}).setdefault("resource", {})
    resource.setdefault("group", "")
    resource.setdefault("resource", "")


def validate(obj: Object, errors: Errors) -> None:
    """Check the name of the resource."""
    resource = get(obj, ".spec.resource.resource", "")
    problems = names.dns1035_label(resource) if resource else []
    if not resource:
        errors.required(_RESOURCE / "resource", "resource is required to be set")
    elif problems:
        errors.invalid(_RESOURCE / "resource", resource, ",".join(problems))
    group = get(obj, ".spec.resource.group", "")
    problems = names.dns_subdomain(group) if group else []
    if problems:
        errors.invalid(_RESOURCE / "group", group, ",".join(problems))


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that it stays about the same resource."""
    if new.get("spec") != old.get("spec"):
        errors.invalid(Path("spec"), go_format.Struct(Resource=get(new, ".spec.resource")), meta.IMMUTABLE)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the conditions, of which the final ones stay."""
    status, before = new.get("status", {}), old.get("status", {})
    version, known = status.get("resourceVersion", ""), before.get("resourceVersion", "")
    path = _STATUS / "resourceVersion"
    if version and not _VERSION.fullmatch(version):
        errors.invalid(path, version, f"resource version is not well formed: {version}")
    conditions = status.get("conditions", [])
    validate_conditions(conditions, _STATUS / "conditions", errors)
    if known and known != version:
        errors.invalid(path, version, "field is immutable")
    path = _STATUS / "conditions"
    if _is(new, "Succeeded") and _is(new, "Failed"):
        text = "Both success and failed conditions cannot be true at the same time"
        errors.invalid(path, conditions, text)
    for kind, word in (("Succeeded", "Success"), ("Failed", "Failed")):
        if _is(old, kind) and not _is(new, kind):
            errors.invalid(path, conditions, f"{word} condition cannot be set to false once it is true")


def _is(obj: Object, kind: str) -> bool:
    for condition in obj.get("status", {}).get("conditions", ()):
        if condition.get("type") == kind:
            return condition.get("status") == "True"
    return False


def _resource(obj: Object, now: float) -> str:
    resource, group = get(obj, ".spec.resource.resource", ""), get(obj, ".spec.resource.group", "")
    return f"{resource}.{group}" if group else resource


def _state(obj: Object, now: float) -> str:
    state = "Unknown"
    for condition in obj.get("status", {}).get("conditions", ()):
        if condition.get("status") == "True" and condition.get("type") in ("Running", "Failed", "Succeeded"):
            state = condition["type"]
    return state


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="StorageVersionMigration",
    plural="storageversionmigrations",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    unconditional_update=False,
    columns=(
        Column("Name", ".metadata.name"),
        Column("Resource", _resource, description="The resource whose objects are rewritten."),
        Column("Status", _state),
    ),
    default=default,
    prepare_create=start_empty,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=validate_status_update,
)
