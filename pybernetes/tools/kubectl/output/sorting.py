"""Sorts objects and tables by a field."""

from __future__ import annotations

from functools import cmp_to_key

from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.template import relaxed
from pybernetes.api.text import go_printf
from pybernetes.api.text.go_format import quote
from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import CommandError, Verbatim
from pybernetes.tools.kubectl.output.jsonpath import PathTemplate
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object

_MISSING: Any = object()
_SMALL = 12  # so many are sorted by insertion, as in Go, which shows where values are missing


def sort_tables(infos: list[Info], field: str) -> list[Info]:
    """Sort what the server sent: the rows of a table by a field of their objects; more than one answer by a field of theirs.

    As the original, a table that cannot be sorted is not shown, and nothing says why.
    """
    if len(infos) != 1:
        return _sorted(infos, [info.object for info in infos], field, _OBJECTS) if infos else infos
    table = infos[0].object
    rows = table.get("rows") or []
    if table.get("kind") == "Table" and len(rows) > 1:
        try:
            table["rows"] = _sorted(rows, [row.get("object") or {} for row in rows], field, _ROWS)
        except Unsortable:
            raise
        except CommandError:
            infos[0].object = {"kind": "Table", "columnDefinitions": [], "rows": []}
    return infos


def sort_objects(items: list[Object], field: str) -> list[Object]:
    """Sort objects by a field."""
    return _sorted(items, items, field, _OBJECTS)


# The places of the original that say what cannot be sorted, and what it calls the things that are sorted.
_OBJECTS = ("sorter.go:329", "*unstructured.Unstructured")
_ROWS = ("sorter.go:375", "[][][]reflect.Value")


class Unsortable(Verbatim):
    """Values of a type that has no order."""


def _sorted(items: list[Any], objects: list[Any], field: str, shown: tuple[str, str]) -> list[Any]:
    try:
        path = relaxed(field)
    except JsonPathError:
        path = field
    program = PathTemplate(path)
    keys = []
    for value in objects:
        results = program.results(value)
        keys.append(results[0][0] if results and results[0] else _MISSING)
    if objects and all(key is _MISSING for key in keys):
        raise CommandError(f"couldn't find any field with path {quote(path)} in the list of objects")
    try:
        return [items[place] for place in _order(keys)]
    except TypeError as error:
        text = f"Field {path} in {shown[1]} is an unsortable type: interface, err: {error}"
        raise Unsortable(log.header(shown[0], "F") + text) from None


def _order(keys: list[Any]) -> list[int]:
    """Return the places of keys in the order of the keys; TypeError if they have none."""
    if len(keys) > _SMALL:

        def compare(left: int, right: int) -> int:
            return _less(keys[right], keys[left]) - _less(keys[left], keys[right])

        return sorted(range(len(keys)), key=cmp_to_key(compare))
    order: list[int] = []
    for place, key in enumerate(keys):
        at = place
        while at and _less(key, keys[order[at - 1]]):
            at -= 1
        order.insert(at, place)
    return order


def _less(left: Any, right: Any) -> bool:
    if left is _MISSING or right is _MISSING:
        return left is _MISSING
    if left is None or right is None:
        return left is None and right is not None
    if type(left) not in (int, float, str):
        raise TypeError(f"unsortable type: {go_printf.type_name(left)}")
    if type(left) is not type(right):
        raise TypeError("unsortable interface: interface")
    if isinstance(left, str):
        first, other = _quantity(left), _quantity(right)
        if first is not None and other is not None:
            return bool(first < other)
    return bool(left < right)


def _quantity(text: str) -> Any:
    from pybernetes.api.quantity import QuantityError, parse

    try:
        return parse(text)
    except QuantityError:
        return None
