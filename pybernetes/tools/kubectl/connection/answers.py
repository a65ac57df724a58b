"""What an answer must look like before a command reads it: whoever answers is not trusted to be an API server."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any

_TEXTS = ("name", "namespace", "generateName", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
          "continue")  # fmt: skip
_NONE = type(None)


def checked(value: Any) -> Any:
    """Return an answer; CommandError if it, or an object in it, has not the fields that all objects have."""
    if type(value) is not dict:
        raise _wrong("it", "an object")
    for key in ("kind", "apiVersion"):
        if type(value.get(key)) not in (str, _NONE):
            raise _wrong(key, "a string")
    for key in ("items", "rows", "columnDefinitions"):
        if key in value:
            for item in _list(value, key):
                if type(item) is not dict:
                    raise _wrong(f"{key}[]", "an object")
    for item in value.get("items") or ():
        _check_metadata(item)
    for row in value.get("rows") or ():
        _list(row, "cells")
        if row.get("object"):
            _check_metadata(_object(row, "object"))
    for column in value.get("columnDefinitions") or ():
        if type(column.get("name")) is not str:
            raise _wrong("columnDefinitions[].name", "a string")
    if value.get("kind") == "Status":
        _check_status(value)
    _check_metadata(value)
    return value


def _check_metadata(value: Any) -> None:
    metadata = value.get("metadata")
    if metadata is None:
        return
    if type(metadata) is not dict:
        raise _wrong("metadata", "an object")
    for key in _TEXTS:
        if type(metadata.get(key)) not in (str, _NONE):
            raise _wrong(f"metadata.{key}", "a string")
    for key in ("labels", "annotations"):
        if not metadata.get(key):
            continue
        for text in _object(metadata, key, "metadata.").values():
            if type(text) is not str:
                raise _wrong(f"metadata.{key}", "an object of strings")
    for reference in _list(metadata, "ownerReferences", "metadata."):
        if type(reference) is not dict:
            raise _wrong("metadata.ownerReferences[]", "an object")
    _list(metadata, "finalizers", "metadata.")


def _check_status(value: Any) -> None:
    for key in ("message", "reason", "status"):
        if type(value.get(key)) not in (str, _NONE):
            raise _wrong(key, "a string")
    if type(value.get("code")) not in (int, _NONE):
        raise _wrong("code", "a number")
    details = _object(value, "details")
    for cause in _list(details, "causes", "details."):
        if type(cause) is not dict:
            raise _wrong("details.causes[]", "an object")


def _object(value: Any, key: str, place: str = "") -> Any:
    child = value.get(key)
    if type(child) not in (dict, _NONE):
        raise _wrong(place + key, "an object")
    return child or {}


def _list(value: Any, key: str, place: str = "") -> Any:
    child = value.get(key)
    if type(child) not in (list, _NONE):
        raise _wrong(place + key, "a list")
    return child or ()


def _wrong(place: str, wanted: str) -> CommandError:
    return CommandError(f"the server's answer makes no sense: {place} is not {wanted}")
