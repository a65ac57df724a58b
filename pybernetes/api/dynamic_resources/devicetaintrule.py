"""DeviceTaintRule: an administrator taints devices that a driver has published."""

from __future__ import annotations

from pybernetes.api import current_time
from pybernetes.api.dynamic_resources import GROUP, _names
from pybernetes.api.dynamic_resources._taints import default_taint, validate_taint
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.status import start_empty
from pybernetes.api.table import AGE, NAME, get, since
from pybernetes.api.validation.conditions import validate_conditions

_SPEC = Path("spec")
_MOST_CONDITIONS = 8


def default(obj: Object) -> None:
    """Complete the time of the taint."""
    default_taint(obj.setdefault("spec", {}).setdefault("taint", {}))


def prepare_update(new: Object, old: Object) -> None:
    """Note the time of a change of the effect, unless the client gave one."""
    taint, before = new.get("spec", {}).get("taint", {}), get(old, ".spec.taint", {})
    if taint.get("effect") != before.get("effect") and taint.get("timeAdded") == before.get("timeAdded"):
        taint["timeAdded"] = current_time.timestamp()


def validate(obj: Object, errors: Errors) -> None:
    """Check which devices are meant, and the taint."""
    late = Errors()
    spec = obj.get("spec", {})
    selector, path = spec.get("deviceSelector", {}), _SPEC / "deviceSelector"
    for key, check in (("driver", _names.driver), ("pool", _names.pool), ("device", _names.label)):
        if key in selector:
            check(selector[key], path / key, errors)
    validate_taint(spec.get("taint", {}), _SPEC / "taint", errors, late)
    errors.extend(late)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the conditions."""
    conditions, path = new.get("status", {}).get("conditions", []), Path("status") / "conditions"
    validate_conditions(conditions, path, errors)
    if len(conditions) > _MOST_CONDITIONS:
        errors.too_many(path, len(conditions), _MOST_CONDITIONS)


def _added(obj: Object, now: float) -> str:
    added = get(obj, ".spec.taint.timeAdded")
    return since(added, now) if added else ""


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="DeviceTaintRule",
    plural="devicetaintrules",
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    generation=True,
    unconditional_update=False,
    columns=(
        NAME,
        Column("Key", lambda obj, now: get(obj, ".spec.taint.key", "")),
        Column("Value", lambda obj, now: get(obj, ".spec.taint.value", "")),
        Column("Effect", lambda obj, now: get(obj, ".spec.taint.effect", "")),
        Column("TimeAdded", _added),
        AGE,
    ),
    default=default,
    prepare_create=start_empty,
    prepare_update=prepare_update,
    validate=validate,
    validate_status_update=validate_status_update,
)
