"""Sorts objects and tables by a field."""

from __future__ import annotations

from functools import cmp_to_key

from pybernetes.api.jsonpath.nodes import JsonPathError
from pybernetes.api.jsonpath.template import relaxed
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.jsonpath import PathTemplate
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def sort_tables(infos: list[Info], field: str) -> list[Info]:
    """Sort the rows of each table by a field of their objects."""
    for info in infos:
        if info.object.get("kind") == "Table":
            rows = info.object.get("rows") or []
            info.object["rows"] = _sorted(rows, [row.get("object") or {} for row in rows], field)
    if infos and all(info.object.get("kind") != "Table" for info in infos):
        return _sorted(infos, [info.object for info in infos], field)
    return infos


def sort_objects(items: list[Object], field: str) -> list[Object]:
    """Sort objects by a field."""
    return _sorted(items, items, field)


def _sorted(items: list[Any], objects: list[Any], field: str) -> list[Any]:
    try:
        path = relaxed(field)
    except JsonPathError:
        path = field
    program = PathTemplate(path)
    keys = []
    for value in objects:
        results = program.results(value)
        keys.append(results[0][0] if results and results[0] else None)
    if objects and all(key is None for key in keys):
        raise CommandError(f'couldn\'t find any field with path "{path}" in the list of objects')

    def place(left: int, right: int) -> int:
        return _compare(keys[left], keys[right])

    order = sorted(range(len(items)), key=cmp_to_key(place))
    return [items[index] for index in order]


def _compare(left: Any, right: Any) -> int:
    if left is None or right is None:
        return (left is not None) - (right is not None)
    if isinstance(left, str) and isinstance(right, str):
        first, other = _quantity(left), _quantity(right)
        if first is not None and other is not None:
            return (first > other) - (first < other)
        return (left > right) - (left < right)
    try:
        return (left > right) - (left < right)
    except TypeError:
        return 0


def _quantity(text: str) -> Any:
    from pybernetes.api.quantity import QuantityError, parse

    try:
        return parse(text)
    except QuantityError:
        return None
