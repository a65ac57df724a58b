"""Lists that are sets or maps: no item is there twice."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object


def check(schema: Object | None, value: Any, path: Path, errors: Errors) -> None:
    """Report items that are there twice, anywhere in a value."""
    if not schema:
        return
    if type(value) is dict:
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            if type(item) not in (dict, list):
                continue
            if key in properties:
                check(properties[key], item, path / key, errors)
            elif type(additional) is dict:
                check(additional, item, path[key], errors)
    elif type(value) is list:
        kind = schema.get("x-kubernetes-list-type")
        if kind == "set":
            for index in _repeated(value):
                errors.duplicate(path[index], value[index])
        elif kind == "map":
            _map(schema.get("x-kubernetes-list-map-keys", ()), value, path, errors)
        for index, item in enumerate(value):
            if type(item) in (dict, list):
                check(schema.get("items"), item, path[index], errors)


def _map(keys: Any, value: list[Any], path: Path, errors: Errors) -> None:
    for index, item in enumerate(value):
        if item is not None and type(item) is not dict:
            errors.invalid(path[index], item, "must be an object for an array of list-type map")
            return
    identities = [{key: item[key] for key in keys if key in item} if item else {} for item in value]
    for index in _repeated(identities):
        errors.duplicate(path[index], identities[index])


def _repeated(values: list[Any]) -> list[int]:
    """Return the first repetition of each value that is there more than once."""
    times: dict[type, dict[Any, int]] = {}  # 1, 1.0 and true are not the same
    repetitions = []
    for index, value in enumerate(values):
        identity = orjson.dumps(value, option=orjson.OPT_SORT_KEYS) if type(value) in (dict, list) else value
        of_type = times.setdefault(type(value), {})
        of_type[identity] = of_type.get(identity, 0) + 1
        if of_type[identity] == 2:
            repetitions.append(index)
    return repetitions
