"""Strategic merge patch: a merge patch that knows which lists merge, and by which key.

Beyond the merge keys of the type a patch can say ``$patch: delete`` or ``replace``, ``$retainKeys`` (drop
the fields that are not named), ``$deleteFromPrimitiveList/<field>`` and ``$setElementOrder/<field>``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pybernetes.api.errors import StatusError, bad_request
from pybernetes.api.patch import lists
from pybernetes.api.patch.json_patch import ANY_OBJECT, undecodable, unprocessable
from pybernetes.api.patch.lists import plain
from pybernetes.api.schema import Type
from pybernetes.api.text import go_format

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList"
SET_ORDER = "$setElementOrder"


def apply(document: Object, patch: Any, type_: Type) -> Object:
    """Return the document after the patch; raise StatusError if the patch is malformed or does not fit the type."""
    if patch is None:
        return document
    if type(patch) is not dict:
        raise bad_request(undecodable(patch, ANY_OBJECT).message.removeprefix("error decoding patch: "))
    try:
        return _merge(document, patch, type_)
    except lists.ListOfLists:
        raise unprocessable() from None
    except lists.Malformed as error:
        raise bad_request(str(error)) from None


def unsupported() -> StatusError:
    """Return the answer for kinds without merge keys, which custom resources are."""
    return bad_request("strategic merge patch format is not supported")


def _merge(original: Object, patch: Object, type_: Type) -> Object:
    if DIRECTIVE in patch:
        if patch[DIRECTIVE] == "replace":
            return {key: value for key, value in patch.items() if key != DIRECTIVE}
        if patch[DIRECTIVE] == "delete":
            return {}
        raise lists.Malformed(f"unknown patch type: {plain(patch[DIRECTIVE])} in map: {plain(patch)}")
    if RETAIN_KEYS in patch:
        patch = patch.copy()
        original = _retain(original, patch, patch.pop(RETAIN_KEYS))
    result = original.copy()
    done = {key for key in patch if key.startswith(SET_ORDER) for key in _order(result, patch, key, type_)}
    for key, value in patch.items():
        if key not in done:
            _field(result, key, value, type_)
    return result


def _retain(original: Object, patch: Object, keys: Any) -> Object:
    if type(keys) is not list:
        raise lists.Malformed("invalid patch format of retainKeys")
    kept = {key for key in keys if type(key) is str}
    for key, value in patch.items():
        if value is not None and key not in kept and not key.startswith((DELETE_FROM, SET_ORDER)):
            raise lists.Malformed("invalid patch format of retainKeys")
    return {key: value for key, value in original.items() if key in kept}


def _field(result: Object, key: str, value: Any, type_: Type) -> None:
    """Merge one field of a patch into the result."""
    deletes = key.startswith(DELETE_FROM)
    if deletes:
        key = _named(key, DELETE_FROM, "invalid patch format of primitive list")
    if value is None:
        result.pop(key, None)
        return
    current: Any = result.get(key)
    if type(current) is not type(value):
        if not deletes:
            kept = _without_directives(value)
            if kept is _DROP:
                result.pop(key, None)
            else:
                result[key] = kept
    elif type(value) is dict:
        field = _lookup(type_, key)
        result[key] = value if "replace" in field.strategy else _merge(current, value, field)
    elif type(value) is list:
        field = _lookup_list(type_, key)
        if deletes:
            unwanted = {lists.identity(item) for item in value}
            result[key] = [item for item in current if lists.identity(item) not in unwanted]
        else:
            result[key] = _merge_list(current, value, field)
    else:
        result[key] = value


def _named(key: str, prefix: str, otherwise: str) -> str:
    """Return the field that a directive with a slash is about."""
    name, slash, field = key.partition("/")
    if name != prefix or not slash:
        raise lists.Malformed(otherwise)
    return field


def _merge_list(current: list[Any], patch: list[Any], field: Type) -> list[Any]:
    if not field.merges:
        return patch
    if not current and not patch:
        return current
    item = field.item
    assert item is not None
    if lists.element_type(current, patch) is not dict:
        return lists.merge_scalars(current, patch)
    if not field.merge_key:
        raise lists.Malformed(f"cannot merge lists without merge key for {item.kind}")
    return lists.merge_objects(current, patch, field.merge_key, lambda old, new: _merge(old, new, item))


def _order(result: Object, patch: Object, directive: str, type_: Type) -> tuple[str, ...]:
    """Merge the list that an order is given for; return the keys of the patch that this takes care of."""
    key = _named(directive, SET_ORDER, "invalid patch format of setElementOrder list")
    order: Any = patch[directive]
    current: Any = result.get(key)
    changes: Any = patch.get(key)
    for value in (order, *(value for value in (current, changes) if value is not None)):
        if type(value) is not list:
            raise lists.Malformed(f"expected a []interface {{}}, but received a {lists.go_type(value)}")
    field = _lookup_list(type_, key)
    lists.check_order(changes or [], order, field.merge_key)
    if current is None and changes is None:
        return (directive,)
    if changes is None:
        merged = current
    elif current is None:
        merged = _without_directives(changes)
    else:
        merged = _merge_list(current, changes, field)
    if lists.element_type(current or [], changes or []) is not dict:
        result[key] = lists.arrange(merged, order, current or [], "")
    else:
        server = lists.places_taken(current or [], changes or [], field.merge_key)
        result[key] = lists.arrange(merged, order, server, field.merge_key)
    return directive, key


class _Drop:
    pass


_DROP: Any = _Drop()


def _without_directives(value: Any) -> Any:
    """Return a value that is new to the document: fields that are null and objects with a directive go."""
    if type(value) is dict:
        if DIRECTIVE in value:
            return _DROP
        items = ((key, _without_directives(item)) for key, item in value.items() if item is not None)
        return {key: item for key, item in items if item is not _DROP}
    if type(value) is list:
        return [item for item in map(_without_directives, value) if item is not _DROP]
    return value


def _lookup(type_: Type, key: str) -> Type:
    if type_.kind not in ("struct", "any"):
        kind = "slice" if type_.kind == "list" else type_.kind
        raise lists.Malformed(f"merging an object in json but data type is not struct, instead is: {kind}")
    field = type_.fields.get(key)
    if field is None:
        raise lists.Malformed(
            f"unable to find api field in struct {type_.name or 'RawExtension'} "
            f"for the json field {go_format.quote(key)}"
        )
    return field


def _lookup_list(type_: Type, key: str) -> Type:
    field = _lookup(type_, key)
    if field.kind != "list" or field.item is None:
        raise lists.Malformed("expected slice or array type, but got: struct")
    if field.item.kind == "list":
        raise lists.Malformed("unexpected slice of slice")
    return field
