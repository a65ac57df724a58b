"""Objects inside of objects: each has a version, a kind and metadata like any other."""

from __future__ import annotations

from typing import Any

from pybernetes.api.customresource.types import EMBEDDED
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource
from pybernetes.api.validation import meta, names


def check(schema: Object | None, value: Any, path: Path, errors: Errors) -> None:
    """Check every embedded object of a value."""
    if not schema:
        return
    if type(value) is dict:
        if schema.get(EMBEDDED):
            _head(value, path, errors)
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            if key in properties:
                check(properties[key], item, path / key, errors)
            elif type(additional) is dict:
                check(additional, item, path[key], errors)
    elif type(value) is list:
        for index, item in enumerate(value):
            check(schema.get("items"), item, path[index], errors)


def _head(value: Object, path: Path, errors: Errors) -> None:
    for key in ("apiVersion", "kind"):
        if key not in value:
            errors.required(path / key)
            continue
        given = value[key]
        if type(given) is not str:
            errors.invalid(path / key, given, "must be a string")
        elif not given:
            errors.invalid(path / key, given, "must not be empty")
        elif key == "apiVersion" and given.count("/") > 1:
            errors.invalid(path / key, given, f"unexpected GroupVersion string: {given}")
        elif key == "kind" and names.dns1035_label(given.lower()):
            problems = ",".join(names.dns1035_label(given.lower()))
            errors.invalid(path / key, given, "may have mixed case, but should otherwise match: " + problems)
    metadata = value.get("metadata")
    if type(metadata) is dict:
        namespaced = bool(metadata.get("namespace"))
        stand_in = Resource(
            group="apiextensions.k8s.io", version="v1", kind="Embedded", plural="embedded", namespaced=namespaced,
            name_errors=names.path_segment,
        )  # fmt: skip
        head_errors = Errors()
        meta.validate(
            stand_in, {"metadata": {**metadata, "name": metadata.get("name") or "fakename"}}, head_errors
        )
        for problem in head_errors:
            problem.field = f"{path}.{problem.field}" if str(path) else problem.field
        errors.extend(head_errors)
