"""Checks of ``metadata`` that hold for every kind."""

from __future__ import annotations

from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import names

METADATA = Path("metadata")
_LABELS, _ANNOTATIONS = METADATA / "labels", METADATA / "annotations"
_ANNOTATIONS_LIMIT = 256 * 1024
IMMUTABLE = "field is immutable"
# Where upstream takes any finalizer, as it does for custom resources.
_LENIENT_GROUPS = (
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "coordination.k8s.io",
)


def check_labels(value: dict[str, str], path: Path, errors: Errors) -> None:
    """Check the keys and values of labels."""
    for key, text in value.items():
        for problem in names.qualified_name(key):
            errors.invalid(path, key, problem)
        for problem in names.label_value(text):
            errors.invalid(path, text, problem)


def check_annotations(value: dict[str, str], path: Path, errors: Errors) -> None:
    """Check the keys of annotations and the size of all together."""
    size = 0
    for key, text in value.items():
        for problem in names.qualified_name(key.lower()):
            errors.invalid(path, key, problem)
        size += len(key.encode()) + len(text.encode())
    if size > _ANNOTATIONS_LIMIT:
        errors.too_long(path, _ANNOTATIONS_LIMIT)


def validate(resource: Resource, obj: Object, errors: Errors) -> None:
    """Check the metadata of a new or changed object."""
    meta = obj["metadata"]
    generate = meta.get("generateName")
    if generate:
        for problem in resource.name_errors(_prefix(generate)):
            errors.invalid(METADATA / "generateName", generate, problem)
    name = meta.get("name")
    if not name:
        errors.required(METADATA / "name", "name or generateName is required")
    else:
        for problem in resource.name_errors(name):
            errors.invalid(METADATA / "name", name, problem)
    if resource.namespaced:
        namespace = meta.get("namespace")
        if not namespace:
            errors.required(METADATA / "namespace")
        else:
            for problem in names.dns_label(namespace):
                errors.invalid(METADATA / "namespace", namespace, problem)
    elif meta.get("namespace"):
        errors.forbidden(METADATA / "namespace", "not allowed on this type")
    if "labels" in meta:
        check_labels(meta["labels"], _LABELS, errors)
    if "annotations" in meta:
        check_annotations(meta["annotations"], _ANNOTATIONS, errors)
    if "ownerReferences" in meta:
        _owners(meta["ownerReferences"], METADATA / "ownerReferences", errors)
    if "finalizers" in meta:
        strict = resource.own_type is None and resource.group not in _LENIENT_GROUPS
        _finalizers(meta["finalizers"], METADATA / "finalizers", errors, strict=strict)
    if meta.get("generation", 0) < 0:
        errors.invalid(METADATA / "generation", meta["generation"], "must be greater than or equal to 0")


def _prefix(name: str) -> str:
    """Return a name with a trailing dash taken for a whole one, since a suffix follows."""
    return name[:-1] + "a" if len(name) > 1 and name.endswith("-") else name


def _owners(owners: list[Object], path: Path, errors: Errors) -> None:
    controller = ""
    for index, owner in enumerate(owners):
        here = path[index]
        group, slash, version = owner.get("apiVersion", "").rpartition("/")
        if not owner.get("apiVersion"):
            errors.required(here / "apiVersion", "must not be empty")
        elif not version or "/" in group:
            errors.invalid(here / "apiVersion", owner["apiVersion"], "must be <group>/<version> or <version>")
        for key in ("kind", "name", "uid"):
            if not owner.get(key):
                errors.required(here / key, "must not be empty")
        if (
            owner.get("kind") == "Event"
            and group in ("", "events.k8s.io")
            and slash == ("/" if group else "")
        ):
            kind = f"{owner.get('apiVersion')}, Kind={owner.get('kind')}"
            errors.invalid(here, kind, f"{kind} is disallowed from being an owner")
        if owner.get("controller"):
            name = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                text = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {name}'
                )
                errors.invalid(path, owners, text)
            controller = controller or name


def _finalizers(finalizers: list[str], path: Path, errors: Errors, *, strict: bool) -> None:
    """Check the names; ``strict`` says whether one that is not a standard one must be qualified."""
    for name in finalizers:
        for problem in names.qualified_name(name):
            errors.invalid(path, name, problem)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.invalid(path, finalizers, text)
    for index, name in enumerate(finalizers if strict else ()):
        if "/" not in name and name not in ("orphan", "foregroundDeletion", "kubernetes"):
            text = "name is neither a standard finalizer name nor is it fully qualified"
            errors.invalid(path[index], name, text)


def validate_update(resource: Resource, new: Object, old: Object, errors: Errors) -> None:
    """Check what an update may not change in the metadata."""
    after, before = new["metadata"], old["metadata"]
    for key in ("name", "namespace", "uid", "creationTimestamp"):
        if after.get(key) != before.get(key):
            errors.invalid(METADATA / key, after.get(key), IMMUTABLE)
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        if before.get(key) is not None and after.get(key) != before.get(key):
            errors.invalid(METADATA / key, after.get(key), IMMUTABLE)
    if before.get("deletionTimestamp"):
        added = [item for item in after.get("finalizers", ()) if item not in before.get("finalizers", ())]
        if added:
            text = f"no new finalizers can be added if the object is being deleted, found new finalizers {_go(added)}"
            errors.forbidden(METADATA / "finalizers", text)


def _go(items: list[str]) -> str:
    return "[]string{" + ", ".join(f'"{item}"' for item in items) + "}"


def immutable(new: Any, old: Any, path: Path, errors: Errors) -> None:
    """Report an error if a field that may not change did."""
    if new != old:
        errors.invalid(path, new, IMMUTABLE)
