"""Namespace: a scope for names; it goes once everything in it is gone."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource, Rules
from pybernetes.api.table import AGE, NAME
from pybernetes.api.validation import checks, names

LABEL = "kubernetes.io/metadata.name"
FINALIZER = "kubernetes"
_FINALIZERS = Path("spec") / "finalizers"
_STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")


def default(obj: Object) -> None:
    """Give a namespace its name as a label, and a phase."""
    label(obj)
    obj.setdefault("spec", {})
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Active"


def label(obj: Object) -> None:
    """Set the label; to be called again once a generated name is known."""
    meta = obj["metadata"]
    if meta.get("name"):
        meta.setdefault("labels", {})[LABEL] = meta["name"]


def prepare_create(obj: Object) -> None:
    """Make a new namespace active, and keep it until its contents are gone."""
    label(obj)
    obj["status"] = {"phase": "Active"}
    finalizers = obj.setdefault("spec", {}).setdefault("finalizers", [])
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)


def prepare_update(new: Object, old: Object) -> None:
    """Keep the finalizers of the spec, which only the finalize subresource changes."""
    spec = new.setdefault("spec", {})
    spec.pop("finalizers", None)
    if old.get("spec", {}).get("finalizers"):
        spec["finalizers"] = old["spec"]["finalizers"]


def validate(obj: Object, errors: Errors) -> None:
    """Check the finalizers of the spec."""
    for name in obj.get("spec", {}).get("finalizers", ()):
        _finalizer(name, _FINALIZERS, errors)


def prepare_finalize(new: Object, old: Object) -> None:
    """Keep the status, which writing the finalizers of the spec leaves alone."""
    new.pop("status", None)
    if "status" in old:
        new["status"] = old["status"]


def validate_finalize_update(new: Object, old: Object, errors: Errors) -> None:
    """Check a write of the finalize subresource."""
    for index, name in enumerate(new.get("spec", {}).get("finalizers", ())):
        _finalizer(name, _FINALIZERS[index], errors)


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the phase fits the deletion."""
    phase = new.get("status", {}).get("phase", "")
    path = Path("status") / "Phase"
    if not new["metadata"].get("deletionTimestamp"):
        if phase != "Active":
            errors.invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")
    elif phase != "Terminating":
        errors.invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")


def _finalizer(name: str, path: Path, errors: Errors) -> None:
    checks.name(names.qualified_name, name, path, errors)
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        errors.invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Namespace",
    plural="namespaces",
    short_names=("ns",),
    namespaced=False,
    verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
    subresources=("finalize", "status"),
    rules={"finalize": Rules(prepare_finalize, validate_finalize_update)},
    name_errors=names.dns_label,
    columns=(NAME, Column("Status", lambda obj, now: obj.get("status", {}).get("phase", "")), AGE),
    selectable={"status.phase": lambda obj: obj.get("status", {}).get("phase", "")},
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_status_update=validate_status_update,
)
