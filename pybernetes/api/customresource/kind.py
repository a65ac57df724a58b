"""A version of a custom resource as a ``Resource``, like any built-in kind."""

from __future__ import annotations

import copy
from typing import Any

from pybernetes.api.customresource import (
    columns,
    defaults,
    embedded,
    list_types,
    prune,
    rules,
    types,
    validate,
)
from pybernetes.api.field import ROOT, Errors
from pybernetes.api.resource import KEEPS_METADATA, Object, Resource, Scale
from pybernetes.api.schema import Decoder
from pybernetes.api.text import go_format
from pybernetes.api.validation import names
from pybernetes.api.versions import version_rank

# In the order in which discovery has always shown them for custom kinds.
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_INT32 = 2**31 - 1
_STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")


class Form:
    """What a version of a definition means for objects: pruning, defaults and checks."""

    def __init__(self, version: Object) -> None:
        self.schema: Object = version.get("schema", {}).get("openAPIV3Schema") or {"type": "object"}
        self.defaults = defaults.has_defaults(self.schema)
        subresources = version.get("subresources") or {}
        self.status = "status" in subresources
        self.scale: Object | None = subresources.get("scale")
        self.rules = rules.build(self.schema, root=True)
        self.status_schema = (self.schema.get("properties") or {}).get("status")

    def decode(self, value: Object, decoder: Decoder) -> Object:
        """Return a client's object without what the schema does not know."""
        # Patches work on what others may still hold.
        return prune.decode(self.schema, copy.deepcopy(value), decoder)

    def default(self, obj: Object) -> None:
        """Complete an object."""
        if self.defaults:
            defaults.apply(self.schema, obj, defaults.Room())

    def clean(self, obj: Object) -> Object:
        """Take out of an object, in place, what the schema does not know."""
        return prune.clean(self.schema, obj)

    def fit(self, obj: Object) -> Object:
        """Make a stored object, in place, what this version shows."""
        self.clean(obj)
        if self.defaults:
            defaults.apply(self.schema, obj, defaults.Unbounded())
        return obj

    def validate_create(self, obj: Object, errors: Errors) -> None:
        """Check a new object."""
        validate.check(self.schema, obj, errors)
        self._scales(obj, errors, ("specReplicasPath", "statusReplicasPath"))
        embedded.check(self.schema, obj, ROOT, errors)
        list_types.check(self.schema, obj, ROOT, errors)
        rules.validate(self.rules, obj, None, errors)

    def validate_update(self, new: Object, old: Object, errors: Errors) -> None:
        """Check a changed object."""
        validate.check(self.schema, new, errors, old)
        self._scales(new, errors, ("specReplicasPath", "statusReplicasPath"))
        embedded.check(self.schema, new, ROOT, errors)
        self._lists(new, old, errors)
        rules.validate(self.rules, new, old, errors)

    def validate_status_update(self, new: Object, old: Object, errors: Errors) -> None:
        """Check a changed status."""
        if "status" in new and self.status_schema is not None:
            status_errors = Errors()
            validate.check(
                self.status_schema, new["status"], status_errors, old.get("status", validate.ABSENT)
            )
            for problem in status_errors:
                bare = problem.field == "<nil>"
                problem.field = "status" if bare else f"status.{problem.field}".replace(".[", "[")
            errors.extend(status_errors)
        self._scales(new, errors, ("statusReplicasPath",))
        self._lists(new, old, errors)
        rules.validate(self.rules, new, old, errors)

    def _lists(self, new: Object, old: Object, errors: Errors) -> None:
        list_errors = Errors()
        list_types.check(self.schema, new, ROOT, list_errors)
        if list_errors:
            before = Errors()
            list_types.check(self.schema, old, ROOT, before)
            if not before:
                errors.extend(list_errors)

    def _scales(self, obj: Object, errors: Errors, keys: tuple[str, ...]) -> None:
        if self.scale is None:
            return
        for key in keys:
            path = self.scale.get(key, "")
            value = _nested(obj, path, int, "int64", errors)
            if value is None:
                continue
            if value < 0:
                errors.invalid(path, value, "should be a non-negative integer")
            elif value > _INT32:
                errors.invalid(path, value, f"should be less than or equal to {_INT32}")
        path = self.scale.get("labelSelectorPath", "")
        if path and "statusReplicasPath" in keys:
            _nested(obj, path, str, "string", errors)


def _nested(obj: Object, path: str, kind: type, name: str, errors: Errors) -> Any:
    """Return the value at a path, or None; report it if it is of another type, or if there is no object on the way."""
    value: Any = obj
    fields = path.removeprefix(".").split(".")
    for position, field in enumerate(fields):
        if value is None:
            return None
        if type(value) is not dict:
            here, wanted = ".".join(fields[: position + 1]), "map[string]interface{}"
            break
        if field not in value:
            return None
        value = value[field]
    else:
        if type(value) is kind:
            return value
        here, wanted = ".".join(fields), name
    text = (
        f".{here} accessor error: {_go(value)} is of the type {go_format.type_name(value)}, expected {wanted}"
    )
    errors.invalid(path, kind(), text)
    return None


def _go(value: Any) -> str:
    """Return a JSON value as Go's ``%v`` prints it."""
    if type(value) is dict:
        return f"map[{' '.join(f'{key}:{_go(value[key])}' for key in sorted(value))}]"
    if type(value) is list:
        return f"[{' '.join(map(_go, value))}]"
    if type(value) is bool:
        return str(value).lower()
    return "<nil>" if value is None else str(value)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about finalizers whose names others could use too."""
    before = old["metadata"].get("finalizers", []) if old else []
    messages = []
    for name in sorted({*obj["metadata"].get("finalizers", [])} - {*before}):
        start = f'metadata.finalizers: "{name}": '
        messages += [start + problem for problem in names.qualified_name(name)]
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in name else ""
            text = f"prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers"
            messages.append(start + text)
    return messages


def _deprecation(spec: Object, name: str, kind: str) -> str:
    """Return the warning of a deprecated version, with the one to use instead if there is any."""
    text = f"{spec['group']}/{name} {kind} is deprecated"
    better = [
        item["name"]
        for item in spec["versions"]
        if item.get("served")
        and not item.get("deprecated")
        and version_rank(item["name"]) < version_rank(name)
    ]
    return f"{text}; use {spec['group']}/{min(better, key=version_rank)} {kind}" if better else text


def build(definition: Object, version: Object, form: Form) -> Resource:
    """Return the resource of one version of a definition, under the names that it got."""
    spec, accepted = definition["spec"], definition.get("status", {}).get("acceptedNames", {})
    group, name, kind = spec["group"], version["name"], accepted.get("kind", "")
    scale = None
    if form.scale is not None:
        scale = Scale(
            form.scale["specReplicasPath"],
            form.scale["statusReplicasPath"],
            form.scale.get("labelSelectorPath", ""),
        )
    deprecated = ""
    if version.get("deprecated"):
        deprecated = version.get("deprecationWarning") or _deprecation(spec, name, kind)
    storage = next((item["name"] for item in spec["versions"] if item.get("storage")), name)
    result = Resource(
        group=group,
        version=name,
        kind=kind,
        plural=accepted.get("plural", ""),
        singular=accepted.get("singular", ""),
        short_names=tuple(accepted.get("shortNames", ())),
        categories=tuple(accepted.get("categories", ())),
        namespaced=spec.get("scope") == "Namespaced",
        verbs=_VERBS,
        subresources=("status",) * form.status + ("scale",) * (scale is not None),
        scale=scale,
        columns=columns.columns(version),
        reset=KEEPS_METADATA,
        generation=True,
        storage_path=f"{group}/{accepted.get('plural', '')}",
        storage_version=(group, storage) if storage != name else None,
        selectable=columns.selectable(version),
        unconditional_update=False,
        deprecated=deprecated,
        decode=form.decode,
        default=form.default,
        validate_create=form.validate_create,
        validate_update=form.validate_update,
        validate_status_update=form.validate_status_update,
        warnings=warnings,
        own_type=types.root(form.schema),
    )
    result.list_kind = accepted.get("listKind") or result.list_kind
    return result
