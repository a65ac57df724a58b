"""Swagger 2.0 in the protobuf form of gnostic, which client-go asks for and takes nothing else instead.

The messages are few and only written, never read, so they are encoded by hand: a field is its number and
its bytes. The numbers below are those of gnostic's openapi.v2 messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

MEDIA_TYPES = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)
# The name that answers carry: "@" may not stand in a media type.
CONTENT_TYPE = MEDIA_TYPES[1]
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "options": 6, "head": 7, "patch": 8}


def _varint(value: int) -> bytes:
    if value < 128:
        return bytes((value,))
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(number: int, value: bytes) -> bytes:
    """Return a field that holds bytes: a text or another message."""
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _text(number: int, value: Any) -> bytes:
    return _bytes(number, value.encode()) if value else b""


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_bytes(number, value.encode()) for value in values)


def _flag(number: int, value: Any) -> bytes:
    return _varint(number << 3) + b"\x01" if value else b""


def _number(number: int, value: int | None) -> bytes:
    return b"" if value is None else _varint(number << 3) + _varint(value & 0xFFFFFFFFFFFFFFFF)


def _any(value: Any) -> bytes:
    """Return a value of any shape, which gnostic keeps as a text of YAML; JSON is YAML."""
    return _bytes(2, orjson.dumps(value))


def _named(number: int, name: str, value: bytes) -> bytes:
    return _bytes(number, _bytes(1, name.encode()) + _bytes(2, value))


def _extensions(number: int, node: Mapping[str, Any]) -> bytes:
    return b"".join(_named(number, key, _any(value)) for key, value in node.items() if key[:2] == "x-")


def schema(node: Mapping[str, Any]) -> bytes:
    """Return a Schema message."""
    out = [_text(1, node.get("$ref")), _text(2, node.get("format")), _text(4, node.get("description"))]
    for number, key in ((11, "maxLength"), (12, "minLength"), (14, "maxItems"), (15, "minItems")):
        out.append(_number(number, node.get(key)))
    out.append(_text(13, node.get("pattern")))
    out.append(_texts(19, node.get("required", ())))
    out += [_bytes(20, _any(value)) for value in node.get("enum", ())]
    more = node.get("additionalProperties")
    if type(more) is dict:
        out.append(_bytes(21, _bytes(1, schema(more))))
    elif more is not None:
        out.append(_bytes(21, _varint(2 << 3) + bytes((more,))))
    if "type" in node:
        out.append(_bytes(22, _text(1, node["type"])))
    if "items" in node:
        out.append(_bytes(23, _bytes(1, schema(node["items"]))))
    if "properties" in node:
        fields = b"".join(_named(1, name, schema(child)) for name, child in node["properties"].items())
        out.append(_bytes(25, fields))
    out.append(_extensions(31, node))
    return b"".join(out)


def _parameter(node: Mapping[str, Any]) -> bytes:
    """Return a ParametersItem message: one of two kinds, wrapped in what tells them apart."""
    if node["in"] == "body":
        body = _text(2, node["name"]) + _text(3, "body") + _flag(4, node.get("required"))
        return _bytes(1, _bytes(1, body + _bytes(5, schema(node["schema"]))))
    is_query = node["in"] == "query"
    common = _flag(1, node.get("required")) + _text(2, node["in"]) + _text(3, node.get("description"))
    common += _text(4, node["name"]) + _text(6 if is_query else 5, node["type"])
    common += _flag(20 if is_query else 19, node.get("uniqueItems"))
    return _bytes(1, _bytes(2, _bytes(3 if is_query else 4, common)))


def _response(node: Mapping[str, Any]) -> bytes:
    out = _text(1, node["description"])
    if "schema" in node:
        out += _bytes(2, _bytes(1, schema(node["schema"])))
    return _bytes(1, out)


def _operation(node: Mapping[str, Any]) -> bytes:
    responses = b"".join(_named(1, code, _response(response)) for code, response in node["responses"].items())
    return b"".join(
        (
            _texts(1, node.get("tags", ())),
            _text(3, node.get("description")),
            _text(5, node.get("operationId")),
            _texts(6, node.get("produces", ())),
            _texts(7, node.get("consumes", ())),
            *(_bytes(8, _parameter(parameter)) for parameter in node.get("parameters", ())),
            _bytes(9, responses),
            _texts(10, node.get("schemes", ())),
            _extensions(13, node),
        )
    )


def _path(node: Mapping[str, Any]) -> bytes:
    out = [_bytes(number, _operation(node[method])) for method, number in _METHODS.items() if method in node]
    out += [_bytes(9, _parameter(parameter)) for parameter in node.get("parameters", ())]
    return b"".join(out)


def can_be_written(node: Mapping[str, Any]) -> bool:
    """Return whether paths and definitions that another server gave can be part of a document."""
    try:
        for path, item in (node.get("paths") or {}).items():
            _named(2, path, _path(item))
        for name, definition in (node.get("definitions") or {}).items():
            _named(1, name, schema(definition))
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return False
    return True


def document(node: Mapping[str, Any]) -> bytes:
    """Return a whole Swagger document as our own writer makes it."""
    info = _text(1, node["info"]["title"]) + _text(2, node["info"]["version"])
    paths = b"".join(_named(2, path, _path(item)) for path, item in node["paths"].items())
    definitions = b"".join(
        _named(1, name, schema(definition)) for name, definition in node["definitions"].items()
    )
    security = b"".join(
        _named(
            1, name, _bytes(2, _text(1, scheme["type"]) + _text(2, scheme["name"]) + _text(3, scheme["in"]))
        )
        for name, scheme in node["securityDefinitions"].items()
    )
    return b"".join(
        (
            _text(1, node["swagger"]),
            _bytes(2, info),
            _bytes(8, paths),
            _bytes(9, definitions),
            *(_bytes(12, _named(1, name, b"")) for requirement in node["security"] for name in requirement),
            _bytes(13, security),
        )
    )
