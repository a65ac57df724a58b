"""Stored bytes as the API server works with them, whoever wrote them.

Another API server on the same etcd may be upstream's, which ends its JSON with a newline, keeps some kinds at an
older version, and by default stores protobuf.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import orjson

from pybernetes.api import protobuf, stored_versions
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.storage import written_messages

_META = b'"metadata":{'
_HEAD = re.compile(rb'\{"kind":"([^"\\]+)","apiVersion":"([^"\\]+)",')
_LONGEST_HEAD = 1024  # more than the longest names of a kind, its group and its version


def stamp(value: bytes, revision: int) -> bytes:
    """Return the stored bytes with the resourceVersion in them, put there without decoding where they are as we write them.

    There the first ``"metadata":{`` is the object's own, because kind and apiVersion alone come before it. ValueError for
    bytes that are no object.
    """
    start = value.find(_META, 0, _LONGEST_HEAD)
    if start < 0 or value[-1:] != b"}" or not _is_own(value[:start]):
        value = written_messages.json_of(value) or _adopted(value)
        start = value.find(_META)
    start += len(_META)
    comma = b"" if value[start : start + 1] == b"}" else b","
    return value[:start] + b'"resourceVersion":"%d"%b' % (revision, comma) + value[start:]


@lru_cache(maxsize=1024)
def _is_own(head: bytes) -> bool:
    """Return whether an object that begins like this is written as we do, and in no older version."""
    match = _HEAD.fullmatch(head)
    return match is not None and (
        (match[2].decode(errors="replace"), match[1].decode(errors="replace"))
        not in stored_versions.older_versions()
    )


def check(value: bytes) -> None:
    """Look closely at an object that another program may have stored; ValueError if it is none."""
    check_shape(orjson.loads(value))


def check_shape(obj: Any) -> None:
    """Raise ValueError if a decoded value has not what every object has."""
    if not (
        isinstance(obj, dict)
        and isinstance(obj.get("kind"), str)
        and isinstance(obj.get("apiVersion"), str)
        and isinstance(obj.get("metadata"), dict)
    ):
        raise ValueError("it has no kind, apiVersion or metadata")


def restamp(value: bytes, old: int, new: int) -> bytes:
    """Return the bytes of an object with another resourceVersion, for the event of its deletion."""
    return value.replace(b'"resourceVersion":"%d"' % old, b'"resourceVersion":"%d"' % new, 1)


def _adopted(value: bytes) -> bytes:
    """Return what others stored, protobuf or JSON in any form and version, as it would be stored here."""
    if value[:4] == b"k8s\0":
        obj = protobuf.decode(value, ("", "", ""), stored_versions.message_name)
    else:
        try:
            obj = orjson.loads(value)
        except ValueError as error:
            text = go_format.quote(value[:20].decode(errors="replace"))
            raise ValueError(f"it is no object: {text}: {error}") from None
        check_shape(obj)
    obj = stored_versions.adopt(obj)
    head = {"kind": obj.pop("kind"), "apiVersion": obj.pop("apiVersion"), "metadata": obj.pop("metadata", {})}
    head["metadata"].pop("resourceVersion", None)
    return orjson.dumps({**head, **obj})
