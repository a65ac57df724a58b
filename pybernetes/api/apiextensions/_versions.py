"""Checks of the versions of a custom resource: schema, subresources, columns, selectable fields."""

from __future__ import annotations

from pybernetes.api.apiextensions._schema import validate_schema
from pybernetes.api.apiextensions._structural import at
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import names

_SPEC = Path("spec")
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE = 8
# Errors in what all versions have in common are reported once, under these names.
_SHARED = {
    "schema": "validation",
    "subresources": "subresources",
    "additionalPrinterColumns": "additionalPrinterColumns",
    "selectableFields": "selectableFields",
}


def _is_shared(versions: list[Object], key: str) -> bool:
    return all(version.get(key) == versions[0].get(key) for version in versions)


def validate_versions(given: list[Object] | None, errors: Errors) -> None:
    """Check what is said of each version by itself."""
    versions = given or []
    shared = {key for key in _SHARED if _is_shared(versions, key)}
    for index, version in enumerate(versions):
        if "openAPIV3Schema" not in version.get("schema", {}):
            errors.required((_SPEC / "versions")[index] / "schema" / "openAPIV3Schema")
    for index, version in enumerate(versions):
        path = (_SPEC / "versions")[index]
        problems = names.dns1035_label(version.get("name", ""))
        if problems:
            errors.invalid(path / "name", version.get("name", ""), ",".join(problems))
        _deprecation(version, path / "deprecationWarning", errors)
        own = {key: version[key] for key in _SHARED if key in version and key not in shared}
        _parts(own, _status(version), {key: path / key for key in _SHARED}, errors)
    seen = [version.get("name", "") for version in versions]
    shown = [_shown(version, shared) for version in versions] if given is not None else None
    if len(set(seen)) != len(seen):
        errors.invalid(_SPEC / "versions", shown, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = "must have exactly one version marked as storage version"
        errors.invalid(_SPEC / "versions", shown, text)
    if seen and seen[0]:
        problems = names.dns1035_label(seen[0])
        if problems:
            errors.invalid(_SPEC / "version", seen[0], ",".join(problems))


def validate_shared(versions: list[Object], errors: Errors) -> None:
    """Check what all versions have in common."""
    first = versions[0] if versions else {}
    common = {key: first[key] for key in _SHARED if key in first and _is_shared(versions, key)}
    status = any(_status(version) for version in versions)
    _parts(common, status, {key: _SPEC / name for key, name in _SHARED.items()}, errors)


def _status(version: Object) -> bool:
    return "status" in version.get("subresources", {})


def _shown(version: Object, shared: set[str]) -> go_format.Struct:
    """Return a version as an error shows it: in the form that holds what is shared elsewhere."""
    result = go_format.Struct()
    result |= {
        "Name": version.get("name", ""),
        "Served": version.get("served", False),
        "Storage": version.get("storage", False),
        "Deprecated": version.get("deprecated", False),
        "DeprecationWarning": version.get("deprecationWarning"),
    }
    for key in _SHARED:
        result[key[0].upper() + key[1:]] = None if key in shared else version.get(key)
    return result


def _deprecation(version: Object, path: Path, errors: Errors) -> None:
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    if not version.get("deprecated"):
        errors.invalid(path, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > 256:
        errors.invalid(path, warning, "must be <= 256 characters long")
    if not warning:
        errors.invalid(path, warning, "must not be an empty string")
    for index, char in enumerate(warning):
        if not char.isprintable():
            text = "must only contain printable UTF-8 characters; non-printable character found at index"
            errors.invalid(path, warning, f"{text} {len(warning[:index].encode())}")
            break


def _parts(version: Object, status: bool, paths: dict[str, Path], errors: Errors) -> None:
    schema = version.get("schema", {}).get("openAPIV3Schema")
    if schema is not None:
        validate_schema(schema, status, paths["schema"], errors)
    if "scale" in version.get("subresources", {}):
        _scale(version["subresources"]["scale"], paths["subresources"] / "scale", errors)
    for index, column in enumerate(version.get("additionalPrinterColumns", ())):
        _column(column, paths["additionalPrinterColumns"][index], errors)
    if "selectableFields" in version:
        _selectable(version["selectableFields"], schema or {}, paths["selectableFields"], errors)


def _scale(scale: Object, path: Path, errors: Errors) -> None:
    for key, under in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        text = scale.get(key, "")
        if not text:
            errors.required(path / key)
        elif not text.startswith("."):
            errors.invalid(path / key, text, "must be a simple json path starting with .")
        elif not text.startswith(under + "."):
            errors.invalid(path / key, text, f"should be a json path under {under}")
    text = scale.get("labelSelectorPath", "")
    if text and not text.startswith("."):
        errors.invalid(path / "labelSelectorPath", text, "must be a simple json path starting with .")
    elif text and not text.startswith((".spec.", ".status.")):
        errors.invalid(
            path / "labelSelectorPath", text, "should be a json path under either .spec or .status"
        )


def _column(column: Object, path: Path, errors: Errors) -> None:
    kind, form, where = column.get("type", ""), column.get("format", ""), column.get("jsonPath", "")
    if not column.get("name"):
        errors.required(path / "name")
    text = "must be one of " + ",".join(_COLUMN_TYPES)
    if not kind:
        errors.required(path / "type", text)
    elif kind not in _COLUMN_TYPES:
        errors.invalid(path / "type", kind, text)
    if form and form not in _COLUMN_FORMATS:
        errors.invalid(path / "format", form, "must be one of " + ",".join(_COLUMN_FORMATS))
    if not where:
        errors.required(path / "JSONPath")
    elif not where.startswith("."):
        errors.invalid(path / "JSONPath", where, "must be a simple json path starting with .")


def _selectable(fields: list[Object], schema: Object, path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for index, field in enumerate(fields):
        where, text = path[index] / "jsonPath", field.get("jsonPath", "")
        if not text:
            errors.required(where)
            continue
        selected = at(text, schema)
        if selected is None:
            problem = "does not refer to a valid field"
            if text[0] not in ".[":
                problem = f"expected [ or . but got: {text.partition('.')[0]}"
            errors.invalid(where, text, f"is an invalid path: {problem}")
            continue
        if text.startswith(".metadata"):
            errors.invalid(where, text, "must not point to fields in metadata")
        if selected.get("type") not in ("string", "boolean", "integer"):
            words = "must point to a field of type string, boolean or integer. "
            errors.invalid(where, text, words + "Enum string fields and strings with formats are allowed.")
        if text in seen:
            errors.duplicate(where, text)
        seen.add(text)
    if len(seen) > _MOST_SELECTABLE:
        errors.too_many(path, len(seen), _MOST_SELECTABLE)
