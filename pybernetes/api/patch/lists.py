"""How a strategic merge patch merges two lists, and which order the result has.

Items that the patch names stand in the order of the patch; items that only the server has keep theirs and
are put between them where the server's order allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_GO_TYPES = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}",
             dict: "map[string]interface {}", type(None): "%!s(<nil>)"}  # fmt: skip


class Malformed(ValueError):
    """The patch has a form that cannot be merged; the text is the one that Kubernetes gives."""


class ListOfLists(Malformed):
    """Lists inside of lists do not merge."""


def go_type(value: Any) -> str:
    """Return the Go type that a decoded JSON value has."""
    return _GO_TYPES[type(value)]


def plain(value: Any) -> str:
    """Return a JSON value as Go's ``%v`` prints it."""
    if type(value) is dict:
        return "map[" + " ".join(f"{key}:{plain(value[key])}" for key in sorted(value)) + "]"
    if type(value) is list:
        return "[" + " ".join(map(plain, value)) + "]"
    if value is None:
        return "<nil>"
    if type(value) is bool:
        return "true" if value else "false"
    return str(value)


def identity(value: Any) -> tuple[type, Any]:
    """Return a hashable stand-in for a scalar, in which 1 and true differ."""
    if type(value) in (dict, list):
        raise Malformed(f"expected a scalar, but received a {go_type(value)}")
    return type(value), value


def _value_identity(value: Any) -> Any:
    """Return a hashable stand-in for any value of JSON."""
    return (
        orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        if type(value) in (dict, list)
        else (type(value), value)
    )


def element_type(*both: list[Any]) -> type:
    """Return the one type that all items have; raise Malformed if they have several or there are no items."""
    types = {type(item) for items in both for item in items}
    if types == {list}:
        raise ListOfLists("lists of lists are not supported")
    if len(types) > 1:
        raise Malformed("list element types are not identical: " + plain(list(both)))
    if not types:
        raise Malformed("no elements in any of the given slices")
    return types.pop()


def merge_scalars(current: list[Any], patch: list[Any]) -> list[Any]:
    """Return both lists without repetition, in order."""
    merged = list({identity(item): item for item in (*current, *patch)}.values())
    return arrange(merged, patch, current, "")


def merge_objects(
    current: list[Any], patch: list[Any], key: str, merge: Callable[[Object, Object], Any]
) -> list[Any]:
    """Return the objects of both lists, merged where they have the same value of the merge key, in order."""
    changes, replaces, unwanted = [], False, set()
    for item in patch:
        match item.get("$patch", _ABSENT):
            case "delete":
                unwanted.add(_value_identity(_key_of(item, key)))
            case "replace":
                replaces = True
            case "merge":
                raise Malformed("merging lists cannot yet be specified in the patch")
            case other if other is not _ABSENT:
                raise Malformed(f"unknown patch type: {plain(other)} in map: {plain(item)}")
            case _:
                changes.append(item)
    if replaces:
        current, changes = changes, []
    elif unwanted:
        current = [old for old in current if key not in old or _value_identity(old[key]) not in unwanted]
    merged = current.copy()
    places: dict[Any, int] = {}
    for place, old in enumerate(merged):
        if key in old:
            places.setdefault(identity(old[key]), place)
    for item in changes:
        wanted = identity(_key_of(item, key))
        if wanted in places:
            merged[places[wanted]] = merge(merged[places[wanted]], item)
        else:
            places[wanted] = len(merged)
            merged.append(item)
    return arrange(merged, changes, current, key)


def check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """Raise Malformed unless the items of a patch stand in the order that is given with it."""
    wanted = [item for item in patch if not (key and type(item) is dict and "$patch" in item)]
    if not order or not wanted:
        return
    place = 0
    for entry in order:
        if place < len(wanted) and _order_key(wanted[place], key) == _order_key(entry, key):
            place += 1
    if place < len(wanted):
        raise Malformed(
            f"The order in patch list:\n{plain(patch)}\n"
            f" doesn't match $setElementOrder list:\n{plain(order)}\n"
        )


def arrange(merged: list[Any], order: list[Any], server: list[Any], key: str) -> list[Any]:
    """Return the merged items: those named by ``order`` in that order, the others put in by the server's order."""
    wanted = _places(order, key)
    live = _places(server, key)
    named: list[Any] = []
    others: list[Any] = []
    for item in merged:
        (named if _order_key(item, key) in wanted else others).append(item)
    named.sort(key=lambda item: wanted[_order_key(item, key)])
    others.sort(key=lambda item: live.get(_order_key(item, key), len(live)))
    result: list[Any] = []
    start = 0
    for item in named:
        here = live.get(_order_key(item, key), -1)
        while start < len(others) and live.get(_order_key(others[start], key), len(live)) < here:
            result.append(others[start])
            start += 1
        result.append(item)
    return result + others[start:]


def places_taken(current: list[Any], patch: list[Any], key: str) -> list[Any]:
    """Return the server's order in which items that a patch adds stand in the places of those that it deletes.

    Upstream edits the list while it still reads the order from it; clients see the order that results.
    """
    deleted = {_order_key(item, key) for item in patch if item.get("$patch") == "delete"}
    if not deleted:
        return current
    left = [item for item in current if _order_key(item, key) not in deleted]
    known = {_order_key(item, key) for item in left}
    added = [item for item in patch if "$patch" not in item and _order_key(item, key) not in known]
    return (left + added)[: len(current)]


class _Absent:
    pass


_ABSENT: Any = _Absent()


def _key_of(item: Any, key: str) -> Any:
    if type(item) is not dict:
        raise Malformed(f"expected a map[string]interface {{}}, but received a {go_type(item)}")
    if key not in item:
        raise Malformed(f"map: {plain(item)} does not contain declared merge key: {key}")
    return item[key]


def _order_key(item: Any, key: str) -> tuple[type, Any]:
    return identity(_key_of(item, key) if key else item)


def _places(items: list[Any], key: str) -> dict[tuple[type, Any], int]:
    places: dict[tuple[type, Any], int] = {}
    for place, item in enumerate(items):
        places.setdefault(_order_key(item, key), place)
    return places
