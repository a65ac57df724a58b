"""A protobuf message of Kubernetes as the JSON value that it stands for."""

from __future__ import annotations

import base64
import struct
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from pybernetes.api.protobuf import shapes
from pybernetes.api.protobuf.shapes import MAGIC, META, SCHEMA, Holds, ProtobufError
from pybernetes.api.schema.load import definition_name
from pybernetes.api.text import json_reader
from pybernetes.lib import protobuf_wire as wire

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_DEPTH_LIMIT = 64
_EXACT = 2**53
_EPOCH = datetime(1970, 1, 1)
Read = Callable[[Any, int], Any]


class _Left(threading.local):
    """How many messages the one that is being read may still have inside: an empty one takes two bytes to send."""

    messages = json_reader.MAX_CONTAINERS


_left = _Left()


def decode(
    data: bytes,
    default: tuple[str, str, str],
    message_name: Callable[[str, str, str], str] = definition_name,
) -> Object:
    """Return the object in an envelope; ``default`` is the group, version and kind of one that does not say.

    ``message_name`` tells the definition of a group, version and kind; KeyError if there is none.
    """
    if not data.startswith(MAGIC):
        raise ProtobufError(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    try:
        raw, api_version, kind = _envelope(data[4:])
        group, _, version = api_version.rpartition("/")
        if not kind:
            (group, version, kind) = default
        try:
            name = META + kind if kind == "DeleteOptions" else message_name(group, version, kind)
        except KeyError:
            raise ProtobufError(f'no kind "{kind}" is registered for version "{api_version}"') from None
        _left.messages = json_reader.MAX_CONTAINERS
        value = _message(name)(raw, 0)
    except (ValueError, TypeError, AttributeError, struct.error, OverflowError) as error:
        raise ProtobufError(str(error)) from None
    value["kind"], value["apiVersion"] = kind, f"{group}/{version}" if group else version
    return value


def _envelope(data: bytes) -> tuple[bytes, str, str]:
    raw, api_version, kind = b"", "", ""
    for number, value in wire.fields(data):
        if number == 1 and isinstance(value, bytes):
            for inner, text in wire.fields(value):
                if isinstance(text, bytes):
                    api_version, kind = (text.decode(), kind) if inner == 1 else (api_version, text.decode())
        elif number == 2 and isinstance(value, bytes):
            raw = value
        elif number == 3 and value:
            raise ProtobufError("content encodings are not supported")
    return raw, api_version, kind


class _Field:
    """How one field is read and where it goes."""

    __slots__ = ("droppable", "inline", "mapped", "name", "read", "repeated")

    def __init__(self, shape: shapes.Shape) -> None:
        fact = shape.fact
        self.name = fact.name
        self.inline = bool(fact.inline)
        self.repeated, self.mapped = shape.holds is Holds.LIST, shape.holds is Holds.MAP
        # Go writes the zero of every field that is no pointer.
        self.droppable = not fact.pointer
        self.read: Read = _message(fact.inline) if self.inline else _reader(shape.node)


@cache
def _message(name: str) -> Read:
    """Return the reader of a message; its fields are looked up when the first one is read."""
    table: dict[int, _Field] = {}

    def read(data: bytes, depth: int) -> Object:
        if depth > _DEPTH_LIMIT:
            raise ProtobufError("the object is nested too deeply")
        _left.messages -= 1
        if _left.messages < 0:
            raise ProtobufError("the object has too many messages inside")
        if not table:
            table.update(_fields(name))
        result: Object = {}
        for number, value in wire.fields(data):
            field = table.get(number)
            if field is None:
                continue
            if field.mapped:
                key, item = _entry(value, field.read, depth)
                result.setdefault(field.name, {})[key] = item
                continue
            item = field.read(value, depth + 1)
            if field.inline:
                result.update(item)
            elif field.repeated:
                result.setdefault(field.name, []).append(item)
            elif item is not None and (item or not field.droppable or isinstance(item, dict)):
                result[field.name] = item
        return result

    return read


def _fields(name: str) -> dict[int, _Field]:
    return {shape.fact.number: _Field(shape) for shape in shapes.fields(name)}


def _entry(value: Any, read: Read, depth: int) -> tuple[str, Any]:
    key, item = "", None
    for number, part in wire.fields(value):
        if number == 1:
            key = part.decode()  # type: ignore[union-attr]
        elif number == 2:
            item = read(part, depth + 1)
    return key, item if item is not None else read(b"", depth + 1)


def _reader(node: Object) -> Read:
    """Return how a single value of a schema is read."""
    name = shapes.reference(node)
    if name in _SPECIAL:
        return _SPECIAL[name]
    kind = shapes.value_kind(node)
    return _message(name) if kind == "message" else _READERS[kind]


def _empty(value: Any, depth: int) -> Object:
    return {}


def _wrapped_texts(value: Any, depth: int) -> list[str]:
    return _texts([part for _, part in wire.fields(value)])


def _string(value: Any, depth: int) -> str:
    return value.decode() if isinstance(value, bytes) else ""


def _base64(value: Any, depth: int) -> str:
    return base64.b64encode(value).decode()


def _boolean(value: Any, depth: int) -> bool:
    return bool(value)


def _integer(value: Any, depth: int) -> int:
    return wire.signed(value) if isinstance(value, int) else 0


def _double(value: Any, depth: int) -> float:
    number = struct.unpack("<d", value)[0]
    # Beyond this not every whole number is one, and JSON has no more than 64 bits of them.
    return int(number) if number.is_integer() and abs(number) <= _EXACT else number


def _raw(value: Any, depth: int) -> Any:
    """Read a RawExtension or the like: JSON inside of bytes."""
    for number, part in wire.fields(value):
        if number == 1 and part:
            return json_reader.loads(part)  # type: ignore[arg-type]
    return None


def _quantity(value: Any, depth: int) -> str:
    return next((part.decode() for number, part in wire.fields(value) if number == 1), "0")  # type: ignore[union-attr]


def _int_or_string(value: Any, depth: int) -> int | str:
    parts = dict(wire.fields(value))
    if parts.get(1):
        return parts.get(3, b"").decode()  # type: ignore[union-attr]
    return wire.signed(parts.get(2, 0))  # type: ignore[arg-type]


def _time(value: Any, depth: int) -> str | None:
    parts = dict(wire.fields(value))
    if not parts.get(1) and not parts.get(2):
        return None
    moment = _EPOCH + timedelta(seconds=wire.signed(parts.get(1, 0)))  # type: ignore[arg-type]
    return moment.isoformat() + "Z"


def _micro_time(value: Any, depth: int) -> str | None:
    text = _time(value, depth)
    nanos = dict(wire.fields(value)).get(2, 0)
    return text and f"{text[:-1]}.{nanos // 1000:06d}Z"  # type: ignore[operator]


def _schema_or(number: int, other: Callable[[list[Any]], Any]) -> Read:
    """Return a schema, or something else in its place; ``number`` is the schema's."""

    def read(value: Any, depth: int) -> Any:
        others = []
        for field_number, part in wire.fields(value):
            if field_number == number:
                return _message(SCHEMA)(part, depth + 1)
            others.append(part)
        return other(others)

    return read


def _schemas(parts: list[Any]) -> list[Any]:
    return [_message(SCHEMA)(part, 0) for part in parts]


def _texts(parts: list[Any]) -> list[str]:
    return [part.decode() for part in parts]


_SPECIAL: dict[str, Read] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": _quantity,
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": _int_or_string,
    META + "Time": _time,
    META + "MicroTime": _micro_time,
    META + "FieldsV1": _raw,
    "io.k8s.apimachinery.pkg.runtime.RawExtension": _raw,
    SCHEMA.replace("JSONSchemaProps", "JSON"): _raw,
    SCHEMA + "OrArray": _schema_or(1, _schemas),
    SCHEMA + "OrBool": _schema_or(2, lambda parts: bool(parts and parts[0])),
    SCHEMA + "OrStringArray": _schema_or(1, _texts),
}
_READERS: dict[str, Read] = {
    "empty": _empty,
    "texts": _wrapped_texts,
    "bytes": _base64,
    "string": _string,
    "boolean": _boolean,
    "integer": _integer,
    "number": _double,
    "raw": _raw,
}
