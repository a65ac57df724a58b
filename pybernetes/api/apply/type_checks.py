"""Whether an applied configuration fits its type; unlike other writes, apply knows no unknown fields."""

from __future__ import annotations

from typing import Any

from pybernetes.api.apply import elements
from pybernetes.api.apply.created_fields import DEDUCED
from pybernetes.api.patch.lists import go_type, plain
from pybernetes.api.schema import Type
from pybernetes.api.text import go_format

Problem = tuple[str, str]
_STRINGS = ("string", "bytes", "time", "microtime")
_FREE = ("any", "quantity", "int-or-string")


def problems(value: Any, type_: Type) -> str:
    """Return what is wrong with a configuration, in the words of Kubernetes, or nothing."""
    errors: list[Problem] = []
    _check(value, type_, "", errors)
    texts = [f"{path}: {message}" if path else message for path, message in errors]
    return texts[0] if len(texts) == 1 else "\n  ".join(["errors:", *texts]) if texts else ""


def _check(value: Any, type_: Type, path: str, errors: list[Problem]) -> None:
    if value is None or type_.kind in _FREE or type_ is DEDUCED:
        return
    if type_.kind in ("struct", "map"):
        _check_object(value, type_, path, errors)
    elif type_.kind == "list":
        _check_list(value, type_, path, errors)
    elif type_.kind in _STRINGS:
        if type(value) is not str:
            errors.append((path, f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"))
    elif type_.kind == "boolean":
        if type(value) is not bool:
            errors.append((path, f"expected boolean, got &{{{plain(value)}}}"))
    elif type(value) not in (int, float):
        errors.append((path, f"expected numeric (int or float), got {go_type(value)}"))


def _literal(value: Any) -> str:
    """Return a value as Go's ``%#v`` prints it."""
    if type(value) is dict:
        items = [f"{go_format.quote(name)}:{_literal(value[name])}" for name in sorted(value)]
    elif type(value) is list:
        items = [_literal(item) for item in value]
    elif value is None:
        return "interface {}(nil)"
    else:
        return go_format.quote(value) if type(value) is str else plain(value)
    return f"{go_type(value)}{{{', '.join(items)}}}"


def _check_object(value: Any, type_: Type, path: str, errors: list[Problem]) -> None:
    if type(value) is not dict:
        errors.append((path, f"expected map, got &{{{plain(value)}}}"))
        return
    fields = type_.fields if type_.kind == "struct" else {}
    for name, item in value.items():
        field = fields.get(name) or type_.item
        if field is None:
            errors.append((f"{path}.{name}", "field not declared in schema"))
            return
        _check(item, field, f"{path}.{name}", errors)


def _check_list(value: Any, type_: Type, path: str, errors: list[Problem]) -> None:
    if type(value) is not list:
        errors.append((path, f"expected list, got &{{{plain(value)}}}"))
        return
    assert type_.item is not None
    seen = set()
    for index, item in enumerate(value):
        if type_.atomic:
            _check(item, type_.item, f"{path}[{index}]", errors)
            continue
        try:
            element = elements.of_item(item, type_)
        except elements.ElementError as error:
            errors.append((path, f"element {index}: {error}"))
            return
        shown = elements.text((element,))
        if element in seen:
            errors.append((path, f"duplicate entries for key {shown}"))
        seen.add(element)
        _check(item, type_.item, path + shown, errors)
