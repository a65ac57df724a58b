"""What the three reviews of access share: create is their only verb, and nothing of them is stored."""

from __future__ import annotations

from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

_SPEC = Path("spec")
_ATTRIBUTES = _SPEC / "resourceAttributes"
_ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


def validate_attributes(spec: Object, errors: Errors) -> None:
    """Check that it asks about either a resource or a URL."""
    if ("resourceAttributes" in spec) == ("nonResourceAttributes" in spec):
        errors.invalid(_SPEC, shown(spec.get("nonResourceAttributes")), _ONE_OF)


def validate_user(spec: Object, errors: Errors) -> None:
    """Check that it says whose access is asked about."""
    if not spec.get("user") and not spec.get("groups"):
        errors.invalid(
            _SPEC / "user", spec.get("user", ""), "at least one of user or group must be specified"
        )


def validate_selectors(spec: Object, errors: Errors) -> None:
    """Check the selectors that narrow the resources."""
    attributes = spec.get("resourceAttributes", {})
    for key in ("fieldSelector", "labelSelector"):
        if key in attributes:
            _selector(attributes[key], _ATTRIBUTES / key, key == "labelSelector", errors)


def _selector(selector: Object, path: Path, labels: bool, errors: Errors) -> None:
    raw, requirements = selector.get("rawSelector"), selector.get("requirements", ())
    if raw and requirements:
        errors.invalid(path / "rawSelector", raw, "may not specified at the same time as requirements")
    if not raw and not requirements:
        text = f"when {path} is specified, requirements or rawSelector is required"
        errors.required(path / "requirements", text)
    for index, requirement in enumerate(requirements):
        _requirement(requirement, (path / "requirements")[index], labels, errors)


def _requirement(requirement: Object, path: Path, labels: bool, errors: Errors) -> None:
    """Check one condition; an unknown operator is let through, since a newer client may know it."""
    key, operator = requirement.get("key", ""), requirement.get("operator", "")
    values = requirement.get("values", ())
    if not labels and not key:
        errors.required(path / "key", "must be specified")
    if operator in ("In", "NotIn") and not values:
        errors.required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'")
    if operator in ("Exists", "DoesNotExist") and values:
        errors.forbidden(
            path / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        )
    if labels:
        checks.name(names.qualified_name, key, path / "key", errors)
        for index, value in enumerate(values):
            checks.name(names.label_value, value, (path / "values")[index], errors)


def validate_metadata(obj: Object, allowed: tuple[str, ...], text: str, errors: Errors) -> None:
    """Check that the metadata says nothing but what is allowed."""
    metadata = obj["metadata"]
    if any(value and key not in allowed for key, value in metadata.items() if key != "managedFields"):
        errors.invalid(Path("metadata"), metadata, text)


def shown(attributes: Object | None) -> Any:
    """Return the attributes of a URL as an error shows them."""
    if attributes is None:
        return None
    return {"Path": attributes.get("path", ""), "Verb": attributes.get("verb", "")}
