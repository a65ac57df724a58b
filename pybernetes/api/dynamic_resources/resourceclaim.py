"""ResourceClaim: devices that one or several pods ask for, and get."""

from __future__ import annotations

from pybernetes.api.dynamic_resources import GROUP, _allocation, _claims
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.validation import declarative

_SPEC = Path("spec")


def default(obj: Object) -> None:
    """Complete what is asked for."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("devices", {})
    _claims.default_claim(spec)
    for result in get(obj, ".status.allocation.devices.results", ()):
        _claims.default_tolerations(result)


def prepare_create(obj: Object) -> None:
    """Start with an empty status, and drop fields of features that are off."""
    obj["status"] = {}
    _claims.drop_disabled(obj.get("spec", {}))


def prepare_update(new: Object, old: Object) -> None:
    """Drop fields of features that are off."""
    _claims.drop_disabled(new.get("spec", {}))


def validate(obj: Object, errors: Errors) -> None:
    """Check what is asked for."""
    _claims.validate_claim(obj.get("spec", {}), _SPEC, errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that it asks for the same."""
    declarative.immutable(new.get("spec"), old.get("spec"), _SPEC, errors)


def _state(obj: Object, now: float) -> str:
    states = ["deleted"] if obj["metadata"].get("deletionTimestamp") else []
    status = obj.get("status", {})
    if "allocation" in status:
        states += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    elif not states:
        states.append("pending")
    return ",".join(states)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="ResourceClaim",
    plural="resourceclaims",
    subresources=("status",),
    reset=KEEPS_METADATA,
    columns=(NAME, Column("State", _state, description="Whether it is allocated and reserved."), AGE),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status_update=_allocation.prepare_status_update,
    validate=validate,
    validate_update=validate_update,
    validate_status_update=_allocation.validate_status_update,
)
