"""PriorityClass: a name for how important pods are."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.scheduling import GROUP
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import meta

HIGHEST_USER_PRIORITY = 1_000_000_000
# The classes that every cluster has, and the only ones that may start with "system-".
SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_DESCRIPTIONS = {
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    "system-cluster-critical": "Used for system critical pods that must run in the cluster, but can be moved to "
    "another node if necessary.",
}
_POLICIES = ("PreemptLowerPriority", "Never")


def system_classes() -> list[Object]:
    """Return the classes that every cluster has, as they are made."""
    return [
        {"metadata": {"name": name}, "value": value, "description": _DESCRIPTIONS[name]}
        for name, value in SYSTEM_CLASSES.items()
    ]


def default_priority_class(classes: Iterable[Object]) -> Object | None:
    """Return the class of pods that name none; should there be several, the least."""
    marked = [class_ for class_ in classes if class_.get("globalDefault")]
    return min(marked, key=lambda class_: class_.get("value", 0), default=None)


def default(obj: Object) -> None:
    """Complete the value and the preemption policy."""
    obj.setdefault("value", 0)
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def validate(obj: Object, errors: Errors) -> None:
    """Check that values and names that belong to the system stay with it."""
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith("system-"):
        problem = _system_class(name, value, obj.get("globalDefault", False))
        if problem:
            text = "priority class names with 'system-' prefix are reserved for system use only. error: "
            errors.forbidden(Path("metadata") / "name", text + problem)
    elif value > HIGHEST_USER_PRIORITY:
        text = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        errors.forbidden(Path("value"), text)
    policy = obj.get("preemptionPolicy")
    if policy == "":
        errors.required(Path("preemptionPolicy"))
    elif policy is not None and policy not in _POLICIES:
        errors.unsupported(Path("preemptionPolicy"), policy, _POLICIES)


def _system_class(name: str, value: int, global_default: bool) -> str:
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    if global_default:
        return f"globalDefault of {name} PriorityClass must be false"
    return ""


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the value and the policy stay: pods were admitted with them."""
    if new.get("value", 0) != old.get("value", 0):
        errors.forbidden(Path("value"), "may not be changed in an update.")
    path = Path("preemptionPolicy")
    meta.immutable(new.get("preemptionPolicy"), old.get("preemptionPolicy"), path, errors)


def prepare_create(obj: Object) -> None:
    """Set the generation, which later changes do not count up."""
    obj["metadata"]["generation"] = 1


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="PriorityClass",
    plural="priorityclasses",
    short_names=("pc",),
    namespaced=False,
    columns=(
        NAME,
        Column("Value", lambda obj, now: obj.get("value", 0), type="integer"),
        Column("Global-Default", lambda obj, now: obj.get("globalDefault", False), type="boolean"),
        AGE,
        Column("PreemptionPolicy", lambda obj, now: obj.get("preemptionPolicy", "")),
    ),
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_update=validate_update,
)
