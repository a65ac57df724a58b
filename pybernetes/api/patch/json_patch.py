"""JSON patch (RFC 6902) with the deviations of the library that Kubernetes uses.

Negative indices count from the end, ``replace`` of a missing key adds it, and a missing value is null.
To a client every failure but a malformed patch is the same answer, 422 without a reason, as upstream gives; why a
patch does not apply is told, in that library's words, where somebody else made it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from pybernetes.api.errors import StatusError, bad_request, too_large
from pybernetes.api.text import go_format

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 * 1024 * 1024
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_FIELDS = ("op", "path", "from")
_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
ANY_OBJECT = "Go value of type map[string]interface {}"


class DoesNotApply(Exception):
    """An operation does not apply to the document; the text says why, ``op`` which sort of operation it is."""

    op: Any = None


class _Absent(Exception):
    """There is nothing at the place that a path is in."""


class _Unfit(Exception):
    """The last step of a path is no place in its parent; the text says why."""


def unprocessable() -> StatusError:
    """Return the answer to a patch that is well formed but does not apply."""
    return StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def apply(document: Any, operations: Any) -> Any:
    """Return the document after all operations; raise StatusError if the patch is malformed or one does not apply."""
    check(operations)
    try:
        return run(document, operations)
    except DoesNotApply:
        raise unprocessable() from None


def run(document: Any, operations: Any) -> Any:
    """Return the document after all operations of a checked patch; raise DoesNotApply if one does not."""
    copied = 0
    owned: _Owned = {}
    for operation in operations or ():
        operation = operation or {}
        try:
            document, size = _apply(document, operation, owned)
        except DoesNotApply as error:
            error.op = operation.get("op")
            raise
        copied += size
        if copied > MAX_COPIED_BYTES:
            raise DoesNotApply(
                f"Unable to complete the copy, the accumulated size increase of copy is {copied}, "
                f"exceeding the limit {MAX_COPIED_BYTES}"
            )
    return document


# The objects and arrays that were copied for this patch and may be changed, by their identity.
_Owned = dict[int, Any]


def _mine(value: Any, owned: _Owned) -> Any:
    """Return an object or array that may be changed: each is copied once for all operations of a patch."""
    if id(value) in owned:
        return value
    copied = value.copy()
    owned[id(copied)] = copied
    return copied


def check(operations: Any) -> None:
    """Raise BadRequest for something that is no list of operations, and 413 for too many of them."""
    if operations is None:
        return
    if type(operations) is not list:
        raise undecodable(operations, "Go value of type []handlers.jsonPatchOp")
    for operation in operations:
        if operation is None:
            continue
        if type(operation) is not dict:
            raise undecodable(operation, "Go value of type handlers.jsonPatchOp")
        for name in _FIELDS:
            if operation.get(name) is not None and type(operation[name]) is not str:
                raise undecodable(operation[name], f"Go struct field jsonPatchOp.{name} of type string")
    if len(operations) > MAX_OPERATIONS:
        raise too_large(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )


def same(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal, where Python would also say that true is 1 and 1 is 1.0."""
    if type(left) is not type(right):
        return False
    if type(left) is dict:
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if type(left) is list:
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def undecodable(value: Any, wanted: str) -> StatusError:
    """Return the answer to a patch that is JSON of the wrong form."""
    return bad_request(f"error decoding patch: json: cannot unmarshal {_NAMES[type(value)]} into {wanted}")


def _apply(document: Any, operation: Object, owned: _Owned) -> tuple[Any, int]:
    """Return the document after one operation, and how many bytes that copied."""
    op = operation.get("op")
    if op not in _OPERATIONS:
        raise DoesNotApply(f"Unexpected kind: {op if type(op) is str else 'unknown'}")
    value, size = operation.get("value"), 0
    if op in ("move", "copy"):
        source = _path(operation, op, "from")
        complaint = f"{op} operation does not apply: doc is missing from path: {source}"
        root, parent, key = _open(document, source, complaint, owned)
        try:
            value = _get(parent, key)
            if op == "copy":
                text = orjson.dumps(value)
                # Another value from now on: what one of them becomes is not what the other becomes.
                value, size = orjson.loads(text), len(text)
            else:
                _remove(parent, key)
                document = root
        except _Unfit as error:
            place = f"for path: '{key}'" if op == "move" else f"for from: '{source}'"
            raise DoesNotApply(f"error in {op} {place}: {error}") from None
    path = _path(operation, op, "path")
    if path == "" and op in ("replace", "test"):
        return _whole(document, op, value), 0
    root, parent, key = _open(document, path, _MISSING[op].format(path), owned)
    try:
        match op:
            case "remove":
                _remove(parent, key)
            case "replace":
                _replace(parent, key, value)
            case "test":
                if not same(_get(parent, key), value):
                    raise DoesNotApply(f"testing value {path} failed: test failed")
            case _:
                _add(parent, key, value)
    except _Unfit as error:
        raise DoesNotApply(
            _UNFIT.get(op, f"error in {op} for path: '{{0}}': {{1}}").format(path, error)
        ) from None
    return root, size


_OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")
_MISSING = {
    "add": 'add operation does not apply: doc is missing path: "{}"',
    "remove": 'remove operation does not apply: doc is missing path: "{}"',
    "replace": "replace operation does not apply: doc is missing path: {}",
    "move": "move operation does not apply: doc is missing destination path: {}",
    "copy": "copy operation does not apply: doc is missing destination path: {}",
    "test": "test operation does not apply: is missing path: {}",
}
_UNFIT = {
    "replace": "replace operation does not apply: doc is missing key: {0}: missing value",
    "copy": "error while adding value during copy: {1}",
}


def _path(operation: Object, op: str, field: str) -> str:
    path = operation.get(field)
    if type(path) is str:
        return path
    if field == "path" and op in ("add", "remove", "copy"):
        why = "missing value"
    elif path is None:
        why = f"operation{',' if field == 'from' else ''} missing {field} field: missing value"
    else:
        why = f"json: cannot unmarshal {_NAMES[type(path)]} into Go value of type string"
    raise DoesNotApply(f"{op} operation failed to decode {field}: {why}")


def _whole(document: Any, op: str, value: Any) -> Any:
    if op == "test":
        if not same(document, value):
            raise DoesNotApply("testing value  failed: test failed")
        return document
    if type(value) not in (dict, list):
        raise DoesNotApply("replace operation value must be object or array: %!w(<nil>)")
    return value


def _open(document: Any, path: str, complaint: str, owned: _Owned) -> tuple[Any, Any, str]:
    """Return the document with what leads to a path copied, the parent of the path therein, and its last step."""
    try:
        if "/" not in path or type(document) not in (dict, list):
            raise _Absent
        *steps, last = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
        root = parent = _mine(document, owned)
        for step in steps:
            child = _get(parent, step)
            if type(child) not in (dict, list):
                raise _Absent
            mine = _mine(child, owned)
            parent[step if type(parent) is dict else _index(step, len(parent))] = mine
            parent = mine
    except (_Absent, _Unfit):
        raise DoesNotApply(f"{complaint}: missing value") from None
    return root, parent, last


def _index(key: str, size: int) -> int:
    """Return the place that a step names in a list with room for ``size`` items."""
    if not _NUMBER.fullmatch(key):
        raise _Unfit(f"strconv.Atoi: parsing {go_format.quote(key)}: invalid syntax")
    index = int(key)
    if not -size <= index < size:
        raise _Unfit(f"Unable to access invalid index: {index}: invalid index referenced")
    return index + size if index < 0 else index


def _get(parent: Any, key: str) -> Any:
    return parent.get(key) if type(parent) is dict else parent[_index(key, len(parent))]


def _add(parent: Any, key: str, value: Any) -> None:
    if type(parent) is dict:
        parent[key] = value
    elif key == "-":
        parent.append(value)
    else:
        try:
            parent.insert(_index(key, len(parent) + 1), value)
        except _Unfit as error:
            start = f"value was not a proper array index: '{key}': " if "strconv" in str(error) else ""
            raise _Unfit(f"{start}{error}") from None


def _replace(parent: Any, key: str, value: Any) -> None:
    parent[key if type(parent) is dict else _index(key, len(parent))] = value


def _remove(parent: Any, key: str) -> None:
    if type(parent) is dict and key not in parent:
        raise _Unfit(f"Unable to remove nonexistent key: {key}: missing value")
    del parent[key if type(parent) is dict else _index(key, len(parent))]
