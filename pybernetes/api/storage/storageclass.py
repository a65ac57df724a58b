"""StorageClass: how volumes of one sort are made."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.storage import _common
from pybernetes.api.table import AGE
from pybernetes.api.validation import checks, declarative, names
from pybernetes.api.validation.node_labels import DEPRECATED

_RECLAIM_POLICIES = ("Delete", "Retain")
_BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
_DEFAULT_ANNOTATIONS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def default(obj: Object) -> None:
    """Delete volumes with their claims and bind at once, unless told otherwise."""
    obj.setdefault("provisioner", "")
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def validate(obj: Object, errors: Errors) -> None:
    """Check names, policies and topologies."""
    _common.provisioner(obj.get("provisioner", ""), Path("provisioner"), errors)
    _common.parameters(obj.get("parameters", {}), Path("parameters"), errors)
    policy = obj.get("reclaimPolicy")
    if policy and policy not in _RECLAIM_POLICIES:
        errors.unsupported(Path("reclaimPolicy"), policy, _RECLAIM_POLICIES)
    mode = obj.get("volumeBindingMode")
    if mode is None:
        errors.required(Path("volumeBindingMode"))
    elif mode not in _BINDING_MODES:
        errors.unsupported(Path("volumeBindingMode"), mode, _BINDING_MODES)
    _topologies(obj.get("allowedTopologies", []), Path("allowedTopologies"), errors)
    if not obj.get("provisioner"):
        errors.required(Path("provisioner"))


def _topologies(terms: list[Object], path: Path, errors: Errors) -> None:
    # An empty term counts as a duplicate even of itself, as upstream has it.
    seen: set[frozenset[tuple[str, frozenset[str]]]] = {frozenset()}
    for index, term in enumerate(terms):
        here = path[index] / "matchLabelExpressions"
        values_by_key: dict[str, frozenset[str]] = {}
        for position, expression in enumerate(term.get("matchLabelExpressions", ())):
            _expression(expression, here[position], errors)
            key = expression.get("key", "")
            if key in values_by_key:
                errors.duplicate(here[position] / "key", key)
            values_by_key[key] = frozenset(expression.get("values", ()))
        identity = frozenset(values_by_key.items())
        if identity in seen:
            errors.duplicate(here, "")
        seen.add(identity)


def _expression(expression: Object, path: Path, errors: Errors) -> None:
    values = expression.get("values", [])
    if not values:
        errors.required(path / "values")
    for index in checks.repetitions(values):
        errors.duplicate((path / "values")[index], values[index])
    key = expression.get("key", "")
    checks.name(names.qualified_name, key, path / "key", errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that what volumes were made with stays."""
    for key in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
        declarative.immutable(new.get(key), old.get(key), Path(key), errors)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about labels of nodes that have newer names."""
    messages = []
    for index, term in enumerate(new.get("allowedTopologies", ())):
        for position, expression in enumerate(term.get("matchLabelExpressions", ())):
            if text := DEPRECATED.get(expression.get("key", "")):
                path = (Path("allowedTopologies")[index] / "matchLabelExpressions")[position] / "key"
                messages.append(f"{path}: {text}")
    return messages


def _name(obj: Object, now: float) -> str:
    notes = obj["metadata"].get("annotations", {})
    default_class = any(notes.get(key) == "true" for key in _DEFAULT_ANNOTATIONS)
    return obj["metadata"].get("name", "") + (" (default)" if default_class else "")


RESOURCE = Resource(
    group="storage.k8s.io",
    version="v1",
    kind="StorageClass",
    plural="storageclasses",
    short_names=("sc",),
    namespaced=False,
    columns=(
        Column("Name", _name, format="name"),
        Column("Provisioner", lambda obj, now: obj.get("provisioner", "")),
        Column("ReclaimPolicy", lambda obj, now: obj.get("reclaimPolicy", "Delete")),
        Column("VolumeBindingMode", lambda obj, now: obj.get("volumeBindingMode", "Immediate")),
        Column("AllowVolumeExpansion", lambda obj, now: obj.get("allowVolumeExpansion", False)),
        AGE,
    ),
    default=default,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
