"""JSON patch (RFC 6902) with the deviations of the library that Kubernetes uses.

Negative indices count from the end, ``replace`` of a missing key adds it, and a missing value is null.
Every failure but a malformed patch is the same answer, 422 without a reason, as upstream gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from pybernetes.api.errors import StatusError, bad_request, too_large

MAX_OPERATIONS = 10_000
MAX_COPIED_BYTES = 3 * 1024 * 1024
_FIELDS = ("op", "path", "from")
_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}
ANY_OBJECT = "Go value of type map[string]interface {}"


class _Failed(Exception):
    """The operation does not apply to the document; clients never see why."""


def unprocessable() -> StatusError:
    """The answer to a patch that is well formed but does not apply."""
    return StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def apply(document: Any, operations: Any) -> Any:
    """The document after all operations; StatusError if the patch is malformed or one does not apply."""
    check(operations)
    copied = 0
    operations = [operation or {} for operation in operations or ()]
    try:
        for operation in operations:
            if operation.get("op") == "copy":
                copied += len(orjson.dumps(_read(document, operation.get("from"))))
                if copied > MAX_COPIED_BYTES:
                    raise _Failed
            document = _apply(document, operation)
    except _Failed:
        raise unprocessable() from None
    return document


def check(operations: Any) -> None:
    """Raises BadRequest for something that is no list of operations, and 413 for too many of them."""
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
    """Equality of JSON values, where Python would also say that true is 1 and 1 is 1.0."""
    if type(left) is not type(right):
        return False
    if type(left) is dict:
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if type(left) is list:
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def undecodable(value: Any, wanted: str) -> StatusError:
    """The answer to a patch that is JSON of the wrong form."""
    return bad_request(f"error decoding patch: json: cannot unmarshal {_NAMES[type(value)]} into {wanted}")


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    path, value = operation.get("path"), operation.get("value")
    match operation.get("op"):
        case "add":
            return _change(document, path, lambda parent, key: _add(parent, key, value))
        case "remove":
            return _change(document, path, _remove)
        case "replace":
            if path == "":
                if type(value) not in (dict, list):
                    raise _Failed
                return value
            return _change(document, path, lambda parent, key: _replace(parent, key, value))
        case "move":
            moved = _read(document, operation.get("from"))
            document = _change(document, operation.get("from"), _remove)
            return _change(document, path, lambda parent, key: _add(parent, key, moved))
        case "copy":
            copied = _read(document, operation.get("from"))
            return _change(document, path, lambda parent, key: _add(parent, key, copied))
        case "test":
            found = document if path == "" else _read(document, path)
            if not same(found, value):
                raise _Failed
            return document
    raise _Failed


def _steps(path: str | None) -> list[str]:
    if path is None or "/" not in path:
        raise _Failed
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _index(parent: list[Any], key: str, size: int) -> int:
    """The place that a step names in a list with room for ``size`` items."""
    try:
        index = int(key) if key.strip() == key and "_" not in key else size
    except ValueError:
        raise _Failed from None
    if not -size <= index < size:
        raise _Failed
    return index + size if index < 0 else index


def _child(parent: Any, key: str) -> Any:
    if type(parent) is dict:
        return parent.get(key)
    if type(parent) is list:
        return parent[_index(parent, key, len(parent))]
    raise _Failed


def _read(document: Any, path: str | None) -> Any:
    for step in _steps(path):
        document = _child(document, step)
    return document


def _change(document: Any, path: str | None, edit: Callable[[Any, str], None]) -> Any:
    """The document with the parent of a path copied and edited; all else is shared."""
    *steps, last = _steps(path)
    if type(document) not in (dict, list):
        raise _Failed
    root = parent = document.copy()
    for step in steps:
        child = _child(parent, step)
        if type(child) not in (dict, list):
            raise _Failed
        copied = child.copy()
        parent[step if type(parent) is dict else _index(parent, step, len(parent))] = copied
        parent = copied
    edit(parent, last)
    return root


def _add(parent: Any, key: str, value: Any) -> None:
    if type(parent) is dict:
        parent[key] = value
    elif key == "-":
        parent.append(value)
    else:
        parent.insert(_index(parent, key, len(parent) + 1), value)


def _replace(parent: Any, key: str, value: Any) -> None:
    parent[key if type(parent) is dict else _index(parent, key, len(parent))] = value


def _remove(parent: Any, key: str) -> None:
    if type(parent) is dict and key not in parent:
        raise _Failed
    del parent[key if type(parent) is dict else _index(parent, key, len(parent))]
