"""What the expressions of mutations make, applied to an object: an apply configuration or a JSON patch."""

from __future__ import annotations

import base64
from typing import Any

import orjson

from pybernetes.api.apply import type_checks
from pybernetes.api.apply.created_fields import field_type
from pybernetes.api.apply.merge import merge
from pybernetes.api.cel.runtime import Moment, Optional, Span, Struct, Uint
from pybernetes.api.patch import json_patch
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Type
from pybernetes.api.text import go_format
from pybernetes.lib.event_loop import json_pieces, off_loop

# In entries and in texts of this length: more than any object may have bytes.
_LARGEST, _CHARACTERS = 1 << 19, 16


class PatchError(Exception):
    """A mutation that makes no sense for the object."""


def weight(value: Any) -> int:
    """Return how much a value is when it is written out: what it repeats is the same value. PatchError if it is too much."""
    left = off_loop.steps_left()
    most = _LARGEST if left is None else min(left, _LARGEST)
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str | bytes):
            total += 1 + len(item) // _CHARACTERS
        elif isinstance(item, list | dict):
            total += 1 + len(item)
        if total > most:
            off_loop.spend(total)
            raise PatchError("the expression makes more than an object can hold")
        if isinstance(item, list | dict):
            waiting += item.values() if isinstance(item, dict) else item
    off_loop.spend(total)
    return total


def applied(obj: Object, value: Any, resource: Resource) -> Object:
    """Return the object with an apply configuration merged into it."""
    _check_names(value, "Object")
    configuration = _json(value)
    configuration |= {"kind": obj.get("kind", ""), "apiVersion": obj.get("apiVersion", "")}
    problem = type_checks.problems(configuration, resource.type)
    if problem:
        raise PatchError(f"error applying patch: failed to convert patch object to typed object: {problem}")
    atomics = list(_atomics(configuration, resource.type, ""))
    if atomics:
        raise PatchError(
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: "
            + ", ".join(atomics)
        )
    merged: Object = merge(_copy(obj), configuration, resource.type)
    return merged


def _copy(obj: Object) -> Any:
    return json_pieces.value(orjson.dumps(obj))


def _atomics(value: Any, type_: Type, path: str) -> list[str]:
    """Return the paths of all lists, maps and objects that can only be replaced as a whole."""
    if not isinstance(value, dict | list):
        return []
    paths = [path] if type_.atomic or (type_.kind == "list" and type_.list_type == "atomic") else []
    if isinstance(value, dict):
        if type_.kind == "struct":
            for name, item in value.items():
                if name in type_.fields:
                    paths += _atomics(item, field_type(type_, name), f"{path}.{name}")
    elif type_.item is not None:
        for index, item in enumerate(value):
            paths += _atomics(item, type_.item, f"{path}[{index}]")
    return paths


def patched(obj: Object, value: Any, resource: Resource) -> Object:
    """Return the object with a JSON patch applied; as it was if one of its tests failed."""
    operations = []
    for item in value:
        operation = {"path": "", **{key: item[key] for key in ("op", "path", "from") if key in item}}
        if "value" in item:
            if isinstance(item["value"], Struct):
                _check_names(item["value"], item["value"].name)
            operation["value"] = _json(item["value"])
        operations.append(operation)
    try:
        result: Any = json_patch.run(_copy(obj), operations)
    except json_patch.DoesNotApply as error:
        if error.op == "test":
            return obj
        raise PatchError(f"JSON Patch: {error}") from None
    if not isinstance(result, dict):
        raise PatchError("JSON Patch: the result is no object")
    return result


def _check_names(value: Any, name: str) -> None:
    """Complain about an object that was made for another field than the one that it is in."""
    if isinstance(value, Struct):
        if value.name != name:
            raise PatchError(
                f"type mismatch: unexpected type name {go_format.quote(value.name)}, expected {go_format.quote(name)}, which matches field name path from root Object type"
            )
        for key, item in value.items():
            _check_names(item, f"{name}.{key}")
    elif isinstance(value, dict):
        for item in value.values():
            _check_names(item, name)
    elif isinstance(value, list):
        for item in value:
            _check_names(item, name)


def _json(value: Any) -> Any:
    """Return a value of an expression as JSON."""
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    if isinstance(value, Uint):
        return int(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Moment | Span):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Optional):
        raise PatchError(
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: optional_type"
        )
    raise PatchError("JSONPath valueExpression evaluated to a type that could not marshal to JSON")
