"""Objects of every built-in kind with one of their lists or maps made long."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from pybernetes.api import errors, table
from pybernetes.api.apply import managed_fields
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Decoder, Type
from tests.api import examples, hooks

_ITEM, _VALUE = "[]", "{}"
_SCALARS: dict[str, Any] = {
    "boolean": True,
    "bytes": "YQ==",
    "time": "2026-01-02T03:04:05Z",
    "microtime": "2026-01-02T03:04:05.000000Z",
}
Path = tuple[str, ...]


def filled(type_: Type, number: int, depth: int = 0) -> Any:
    """Return a value of a type, different for each number; of a struct only its scalars."""
    match type_.kind:
        case "struct":
            fields = type_.fields.items() if depth < 3 else ()
            return {
                name: filled(field, number, depth + 1)
                for name, field in fields
                if field.kind not in ("list", "map", "struct")
            }
        case "list":
            return [filled(_inner(type_), number, depth + 1)]
        case "map":
            return {f"k{number}": filled(_inner(type_), number, depth + 1)}
        case "string":
            return type_.enum[number % len(type_.enum)] if type_.enum else f"n{number}"
        case "integer" | "int-or-string" | "number":
            return number % 60000 + 1
        case "quantity":
            return str(number + 1)
    return _SCALARS.get(type_.kind, {"k": number})


def _inner(type_: Type) -> Type:
    assert type_.item is not None
    return type_.item


def paths(type_: Type, path: Path = (), seen: Path = ()) -> Iterator[tuple[Path, Type]]:
    """Yield each list and map in a type that is a field, and its path; a type inside of itself is not followed."""
    if type_.kind == "struct":
        if type_.name and type_.name in seen:
            return
        for name, field in type_.fields.items():
            yield from paths(field, (*path, name), (*seen, type_.name))
    elif type_.kind in ("list", "map"):
        if path[-1] not in (_ITEM, _VALUE):
            yield path, type_
        yield from paths(_inner(type_), (*path, _ITEM if type_.kind == "list" else _VALUE), seen)


def stretched(resource: Resource, path: Path, type_: Type, size: int, *, same: bool) -> Object:
    """Return the kind's example with so many items at a path, all the same or all different."""
    items = [filled(_inner(type_), 7 if same else number) for number in range(size)]
    value = items if type_.kind == "list" else {f"k{number}": item for number, item in enumerate(items)}
    obj = examples.example(resource.api_version, resource.kind)
    holder: Any = obj
    holder_type = resource.type
    for name in path[:-1]:
        if name == _ITEM:
            holder, holder_type = holder[0], _inner(holder_type)
        elif name == _VALUE:
            holder, holder_type = next(iter(holder.values())), _inner(holder_type)
        else:
            holder_type = holder_type.fields[name]
            if not holder.get(name):
                holder[name] = filled(holder_type, 1)
            holder = holder[name]
    holder[path[-1]] = value
    return obj


def write(resource: Resource, obj: Object) -> None:
    """Do all that the API server does with an object that is created, updated, has its status written, and is shown."""
    new = Decoder(counting=True).decode(resource.type, obj)
    new["kind"], new["apiVersion"] = resource.kind, resource.api_version
    if resource.namespaced:
        new["metadata"].setdefault("namespace", "default")
    if resource.default:
        resource.default(new)
    now = _SCALARS["time"]
    managed_fields.update(None, new, resource.type, manager="m", api_version=resource.api_version, now=now)
    whole = copy.deepcopy(new)
    hooks.prepare_create(resource, new)
    _report(resource, hooks.create_errors(resource, new))
    if resource.warnings:
        resource.warnings(new, None)
    table.cells(resource.columns or table.PLAIN, whole, 1e9)
    _report(resource, hooks.update_errors(resource, copy.deepcopy(whole), new))
    if resource.has_status:
        _report(resource, hooks.status_errors(resource, copy.deepcopy(whole), new))


def _report(resource: Resource, problems: Any) -> None:
    if problems:
        errors.invalid(resource.group, resource.kind, "x", problems)
