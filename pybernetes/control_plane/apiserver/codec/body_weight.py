"""How much work a body is before anybody has read it, in bytes of ordinary JSON.

Bytes alone do not tell: an empty object takes three bytes of JSON and two of protobuf, and each is decoded, defaulted and
validated like any other; a few bytes of YAML or of a JSON patch can stand for megabytes.
"""

from __future__ import annotations

import orjson

from pybernetes.api import protobuf
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.event_loop import off_loop

# What a value with its comma counts as at least; ordinary JSON has one comma in 25 bytes.
_VALUE_BYTES = 32
# No value and its comma take less, so that shorter bodies need not be looked at.
_LEAST_BYTES = 3
_PROTOBUF_FACTOR, _YAML_FACTOR = 4, 2
# Up to this size a body is little work, whatever is in it, if it stands for nothing but what it says.
_SMALL = off_loop.LARGE * _LEAST_BYTES // _VALUE_BYTES
_PLAIN = frozenset(
    (b"application/json", b"application/merge-patch+json", b"application/strategic-merge-patch+json")
)


def body_weight(request: Request) -> int:
    """Return how much work the body of a request is."""
    raw = request.body
    if request.headers.get(b"content-type") in _PLAIN and len(raw) <= _SMALL:
        return len(raw)  # most bodies
    if len(raw) <= _SMALL:
        return off_loop.LARGE + 1 if may_expand(request) else len(raw)
    media = request.headers.get(b"content-type", b"")
    if len(raw) > off_loop.LARGE or may_expand(request):
        return max(len(raw), off_loop.LARGE + 1)
    if media.startswith(protobuf.MEDIA_TYPE.encode()):
        return _PROTOBUF_FACTOR * len(raw)
    return _YAML_FACTOR * len(raw) + weight(raw) if b"yaml" in media else weight(raw)


def weight(raw: bytes) -> int:
    """Return how much work an object is by its JSON."""
    return max(len(raw), _VALUE_BYTES * raw.count(b","))


def object_weight(obj: Object | None) -> int:
    """Return how much work a decoded object is."""
    return 0 if obj is None else weight(orjson.dumps(obj))


def may_expand(request: Request) -> bool:
    """Return whether a body can stand for more than it says: YAML with aliases, a JSON patch that copies."""
    media, raw = request.headers.get(b"content-type", b"").lower(), request.body
    if b"yaml" in media:
        return b"*" in raw and b"&" in raw
    # A name in JSON may be written in escapes.
    return b"json-patch" in media and (b"copy" in raw or b"\\u" in raw)
