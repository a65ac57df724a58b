"""The printed columns and the selectable fields of a custom resource."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.template import JsonPath
from pybernetes.api.resource import Column, Object
from pybernetes.api.table import NAME, epoch
from pybernetes.api.text.durations import human_duration

_AGE: Object = {
    "name": "Age",
    "type": "date",
    "jsonPath": ".metadata.creationTimestamp",
    "description": "The time since the object was created.",
}


def columns(version: Object) -> tuple[Column, ...]:
    """Return the columns of a version: its name, then what the definition names, or its age."""
    shown = [NAME]
    for given in version.get("additionalPrinterColumns") or (_AGE,):
        path = given.get("jsonPath", "")
        description = (
            given.get("description") or f"Custom resource definition column (in JSONPath format): {path}"
        )
        try:
            find = _finder(path)
        except JsonPathError:
            break  # a path that cannot be read ends the table, as upstream does it
        kind = given.get("type", "")
        cell = _cell(find, kind)
        shown.append(
            Column(
                given.get("name", ""),
                cell,
                kind,
                given.get("format", ""),
                description,
                given.get("priority", 0),
            )
        )
    return tuple(shown)


def _finder(path: str) -> Callable[[Any], list[Any]]:
    """Return a function that gives the values at a path; JsonPathError if the text is none."""
    # The first value is shown; with ".." in a path, the same values could be found over and over on the way to it.
    template = JsonPath(f"{{{path}}}", once=True)

    def find(obj: Any) -> list[Any]:
        try:
            results = template.results(obj)
        except JsonPathError:
            return []  # the object has another form than the path expects
        return results[0] if results else []

    return find


def _cell(find: Callable[[Any], list[Any]], kind: str) -> Callable[[Object, float], Any]:
    def cell(obj: Object, now: float) -> Any:
        values = find(obj)
        return _shown(values[0], kind, now) if values else None

    return cell


def _shown(value: Any, kind: str, now: float) -> Any:
    if kind == "string":
        return text(value)
    if kind == "integer" and type(value) in (int, float):
        return int(value)
    if kind == "number" and type(value) in (int, float):
        return float(value)
    if kind == "boolean" and type(value) is bool:
        return value
    if kind == "date" and type(value) is str:
        try:
            return human_duration(now - epoch(value))
        except ValueError:
            return "<invalid>"
    return None


def text(value: Any) -> str:
    """Return a value as text: strings as they are, the rest as JSON."""
    if value is None:
        return ""
    return value if type(value) is str else orjson.dumps(value).decode()


def selectable(version: Object) -> dict[str, Callable[[Object], str]]:
    """Return what field selectors can ask for beyond the name and the namespace."""
    selectors = {}
    for given in version.get("selectableFields") or ():
        path = given.get("jsonPath", "")
        selectors[path.removeprefix(".")] = _select(_finder(path))
    return selectors


def _select(find: Callable[[Any], list[Any]]) -> Callable[[Object], str]:
    def select(obj: Object) -> str:
        values = find(obj)
        return text(values[0]) if values else ""

    return select
