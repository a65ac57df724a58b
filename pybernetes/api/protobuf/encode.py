"""The JSON value of an object as the protobuf message that Go writes for it, byte for byte.

Go writes every field that is no pointer, zero or not, in the order of the numbers, and maps in the order of their keys.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from pybernetes.api.protobuf import shapes
from pybernetes.api.protobuf.shapes import MAGIC, META, SCHEMA, Holds, ProtobufError
from pybernetes.api.schema import facts
from pybernetes.api.schema.load import definition_name
from pybernetes.lib import protobuf_wire as wire

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

# What an envelope has after the message: neither an encoding nor a content type.
_END = b"\x1a\x00\x22\x00"
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
Write = Callable[[Any], bytes]  # a value without its tag; what needs a size has it
size = wire.number


def message(name: str, obj: Object) -> bytes:
    """Return an object as the message of a definition; ProtobufError if it does not fit."""
    try:
        return _message(name)(obj)
    except (ValueError, TypeError, AttributeError, KeyError, struct.error, RecursionError) as error:
        raise ProtobufError(f"the object has no form in protobuf: {error!r}") from None


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return a message in what says which kind it is."""
    head = _head(api_version, kind)
    return b"%b%b%b%b" % (head, size(len(raw)), raw, _END)


def item(raw: bytes) -> bytes:
    """Return a message as a list has it among its items, whose field has the number 2 in all lists."""
    return b"\x12%b%b" % (size(len(raw)), raw)


def item_message(data: bytes) -> bytes:
    """Return the message that is inside of an item."""
    return data[wire.varint(data, 1)[1] :]


def list_parts(api_version: str, kind: str, meta: Object, items: bytes) -> tuple[bytes, bytes, bytes]:
    """Return a list of items that are written already, in its envelope and in parts."""
    raw = b"\x0a" + _sized(_message(META + "ListMeta"))(meta)
    return _head(api_version, kind) + size(len(raw) + len(items)) + raw, items, _END


def watch_event(type_: str, obj: bytes) -> bytes:
    """Return an event of a watch with an object in its envelope, as it stands between others: after its size."""
    extension = b"\x0a%b%b" % (size(len(obj)), obj)
    raw = b"\x0a%b\x12%b%b" % (_string(type_), size(len(extension)), extension)
    return struct.pack(">I", len(raw)) + raw


@lru_cache(maxsize=1024)
def _head(api_version: str, kind: str) -> bytes:
    names = b"\x0a" + _string(api_version) + b"\x12" + _string(kind)
    return MAGIC + b"\x0a" + size(len(names)) + names + b"\x12"


def encode(obj: Object, name: Callable[[str, str, str], str] = definition_name) -> bytes:
    """Return an object in its envelope; ProtobufError if its kind has no message.

    ``name`` tells the definition of a group, version and kind that is not of every group; KeyError if there is none.
    """
    api_version, kind = obj["apiVersion"], obj["kind"]
    group, _, version = api_version.rpartition("/")
    try:
        definition = (
            META + kind
            if group in ("", "meta.k8s.io") and facts.message(META + kind)
            else name(group, version, kind)
        )
    except KeyError:
        raise ProtobufError(f"no message is known for {kind} of {api_version}") from None
    return envelope(api_version, kind, message(definition, obj))


class _Field:
    """How one field is written, and what is written when it is absent."""

    __slots__ = ("absent", "name", "write")

    def __init__(self, shape: shapes.Shape) -> None:
        fact, holds = shape.fact, shape.holds
        self.name, self.absent = fact.name, b""
        if fact.inline:
            self.write = _tagged(fact.number, wire.BYTES, _sized(_message(fact.inline)))
            return
        wire_type, write, zero = _writer(shape.node)
        if holds is Holds.LIST:
            self.write = _repeated(fact.number, wire_type, write)
        elif holds is Holds.MAP:
            self.write = _mapped(fact.number, wire_type, write)
        else:
            self.write = _tagged(fact.number, wire_type, write)
            if not fact.pointer and zero is not None:
                self.absent = self.write(zero)


@cache
def _message(name: str) -> Write:
    """Return the writer of a message; its fields are looked up when the first one is written."""
    table: list[tuple[str, bytes, Write]] = []
    inline = False

    def write(obj: Object) -> bytes:
        nonlocal inline
        if not table:
            fields = [_Field(shape) for shape in shapes.fields(name)]
            inline = any(not field.name for field in fields)
            table.extend((field.name, field.absent, field.write) for field in fields)
        get = obj.get
        parts = []
        for field, absent, put in table:
            value = get(field)
            if value is not None:
                parts.append(put(value))
            elif absent:
                parts.append(absent)
            elif inline and not field:
                parts.append(put(obj))
        return b"".join(parts)

    return write


def _tagged(number: int, wire_type: int, write: Write) -> Write:
    tag = wire.number(number << 3 | wire_type)
    if write is _string:  # the most frequent one, without another call

        def text(value: str) -> bytes:
            data = value.encode()
            return b"%b%b%b" % (tag, size(len(data)), data)

        return text
    return lambda value: tag + write(value)


def _repeated(number: int, wire_type: int, write: Write) -> Write:
    tag = wire.number(number << 3 | wire_type)
    return lambda values: b"".join([tag + write(value) for value in values])


def _mapped(number: int, wire_type: int, write: Write) -> Write:
    tag, value_tag = wire.number(number << 3 | 2), wire.number(2 << 3 | wire_type)

    def entries(values: dict[str, Any]) -> bytes:
        parts = []
        for key in sorted(values):
            entry = b"\x0a%b%b%b" % (_string(key), value_tag, write(values[key]))
            parts.append(b"%b%b%b" % (tag, size(len(entry)), entry))
        return b"".join(parts)

    return entries


def _sized(write: Write) -> Write:
    def sized(value: Any) -> bytes:
        data = write(value)
        return size(len(data)) + data

    return sized


def _writer(node: Object) -> tuple[int, Write, Any]:
    """Return how a single value of a schema is written: its wire type, the writer, and its zero (None: not written)."""
    name = shapes.reference(node)
    if name in _SPECIAL:
        write, zero = _SPECIAL[name]
        return wire.BYTES, _sized(write), zero
    kind = shapes.value_kind(node)
    if kind == "message":
        return wire.BYTES, _sized(_message(name)), {}
    return _WRITERS[kind]


def _string(value: str) -> bytes:
    data = value.encode()
    return size(len(data)) + data


def _bytes(value: str) -> bytes:
    data = base64.b64decode(value, validate=True)
    return size(len(data)) + data


def _boolean(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def _integer(value: int) -> bytes:
    return size(value & 0xFFFF_FFFF_FFFF_FFFF)


def _double(value: float) -> bytes:
    return struct.pack("<d", value)


def _texts(values: list[str]) -> bytes:
    return b"".join([b"\x0a" + _string(value) for value in values])


def _raw(value: Any) -> bytes:
    """Write a RawExtension or the like: JSON inside of bytes."""
    if value is _NOTHING:
        return b""
    data = orjson.dumps(value)
    return b"\x0a%b%b" % (size(len(data)), data)


def _quantity(value: str | float) -> bytes:
    return b"\x0a" + _string(str(value))


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return b"\x08\x01\x10\x00\x1a" + _string(value)
    return b"\x08\x00\x10%b\x1a\x00" % _integer(value)


@lru_cache(maxsize=4096)
def _time(value: str) -> bytes:
    """Write a moment, of which times have the seconds and micro times more."""
    if not value:
        return b""
    since = datetime.fromisoformat(value) - _EPOCH
    seconds, rest = divmod(since, timedelta(seconds=1))
    return b"\x08%b\x10%b" % (_integer(seconds), size(rest.microseconds * 1000))


def _schema_or_array(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join([b"\x12" + _schema(item) for item in value])
    return b"\x0a" + _schema(value)


def _schema_or_bool(value: Any) -> bytes:
    if isinstance(value, dict):
        return b"\x08\x01\x12" + _schema(value)
    return b"\x08" + _boolean(value)


def _schema_or_texts(value: Any) -> bytes:
    if isinstance(value, list):
        return b"".join([b"\x12" + _string(item) for item in value])
    return b"\x0a" + _schema(value)


def _schema(value: Object) -> bytes:
    return _sized(_message(SCHEMA))(value)


_NOTHING = object()
# Definitions whose JSON is not the object of their fields: the writer, and what it writes for a zero.
_SPECIAL: dict[str, tuple[Write, Any]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": (_quantity, "0"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": (_int_or_string, 0),
    META + "Time": (_time, ""),
    META + "MicroTime": (_time, ""),
    META + "FieldsV1": (_raw, _NOTHING),
    "io.k8s.apimachinery.pkg.runtime.RawExtension": (_raw, _NOTHING),
    SCHEMA.replace("JSONSchemaProps", "JSON"): (_raw, _NOTHING),
    SCHEMA + "OrArray": (_schema_or_array, None),
    SCHEMA + "OrBool": (_schema_or_bool, None),
    SCHEMA + "OrStringArray": (_schema_or_texts, None),
}
_WRITERS: dict[str, tuple[int, Write, Any]] = {
    "empty": (wire.BYTES, lambda value: b"\x00", {}),
    "texts": (wire.BYTES, _sized(_texts), None),
    "bytes": (wire.BYTES, _bytes, None),
    "string": (wire.BYTES, _string, ""),
    "boolean": (wire.VARINT, _boolean, False),
    "integer": (wire.VARINT, _integer, 0),
    "number": (wire.FIXED64, _double, 0.0),
    "raw": (wire.BYTES, _sized(_raw), _NOTHING),
}
