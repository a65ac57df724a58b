"""A client's JSON turned into a clean object of a type, as Go's decoder would.

Unknown fields are dropped and noted, nulls are dropped, quantities and times take their canonical
form, and a value of the wrong type is an error that names the field in Go's words.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from pybernetes.api import quantity
from pybernetes.api.schema.places import MAX_COMPLAINTS, Place, texts
from pybernetes.api.schema.types import Type
from pybernetes.lib.memory.bounded_cache import bounded_cache

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_INT_LIMITS = {"int32": 2**31, "int64": 2**63, "": 2**63}
_GO_TYPES = {
    "string": "string",
    "time": "string",
    "microtime": "string",
    "boolean": "bool",
    "number": "float64",
    "any": "map[string]interface {}",
}
_TIME = re.compile(r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")


class DecodeError(ValueError):
    """The value does not fit the type; ``converting`` says why in the words of who converts values that were read before."""

    def __init__(self, message: str, converting: str = "") -> None:
        super().__init__(message)
        self.converting = converting or message


class Decoder:
    """One decoding; ``noted`` lists where the first fields are that the type does not have.

    ``keys`` counts the keys of what is known, inside of untyped values only if ``counting`` is set.
    """

    __slots__ = ("counting", "keys", "noted")

    def __init__(self, counting: bool = False) -> None:
        self.noted: list[Place] = []
        self.keys = 0
        self.counting = counting

    @property
    def unknown(self) -> list[str]:
        """The fields that the type does not have, as many as one report takes."""
        return texts(self.noted)

    def decode(self, type_: Type, value: Any, field: str = "", owner: str = "") -> Any:
        """Return the value as the type has it; raise DecodeError if it does not fit.

        ``field`` and ``owner`` say for messages in which field of which type the value was.
        """
        return self._value(type_, value, (None, field) if field else None, owner)

    def decode_patched(self, type_: Type, value: Object, before: Object) -> Object:
        """Return what ``decode`` gives, for a value that was made of one which ``decode`` gave, leaving that as it was.

        Parts that are the very ones of before are as they should be; of most patched objects that is nearly all.
        """
        return self._patched(type_, value, before, None)

    def _patched(self, type_: Type, value: Object, before: Object, path: Place) -> Object:
        fields, result = type_.fields, {}
        for key, item in value.items():
            known = before.get(key)
            if item is known and item is not None:
                result[key] = item
                continue
            field = fields.get(key)
            if type(item) is dict and type(known) is dict and field is not None and field.kind == "struct":
                result[key] = self._patched(field, item, known, (path, key))
            else:
                result.update(self._struct(type_, {key: item}, path))
        return result

    def _struct(self, type_: Type, value: Object, path: Place) -> Object:
        fields = type_.fields
        required = type_.required
        name = type_.name
        self.keys += len(value)
        result: Object = {}
        for key, item in value.items():
            field = fields.get(key)
            if field is None:
                if len(self.noted) < MAX_COMPLAINTS:
                    self.noted.append((path, key))
            elif item is None:
                continue
            elif field.native is type(item):
                if item or field.keeps_zero:
                    result[key] = item
            else:
                clean = self._value(field, item, (path, key), name)
                # Go omits what is empty; keeping it would make equal objects differ.
                if clean or _kept_empty(field, key in required):
                    result[key] = clean
        return result

    def _value(self, type_: Type, value: Any, path: Place, owner: str) -> Any:
        kind = type_.kind
        if kind == "struct":
            if type(value) is not dict:
                raise _mismatch(type_, value, path, owner)
            return self._struct(type_, value, path)
        if kind == "list":
            return self._list(type_, value, path, owner)
        if kind == "map":
            return self._map(type_, value, path, owner)
        return self._scalar(type_, value, path, owner)

    def _list(self, type_: Type, value: Any, path: Place, owner: str) -> list[Any]:
        if type(value) is not list:
            raise _mismatch(type_, value, path, owner)
        item = type_.item
        assert item is not None
        if item.kind == "struct":
            result = []
            for index, entry in enumerate(value):
                if type(entry) is dict:
                    result.append(self._struct(item, entry, (path, index)))
                elif entry is None:
                    result.append({})
                else:
                    raise _mismatch(item, entry, path, owner)
            return result
        native = item.native
        return [
            entry if native is type(entry) else self._value(item, entry, (path, index), owner)
            for index, entry in enumerate(value)
        ]

    def _map(self, type_: Type, value: Any, path: Place, owner: str) -> Object:
        if type(value) is not dict:
            raise _mismatch(type_, value, path, owner)
        item = type_.item
        assert item is not None
        self.keys += len(value)
        native = item.native
        result = {}
        for key, entry in value.items():
            if native is type(entry):
                result[key] = entry
            elif entry is None and native is str:
                result[key] = ""
            elif entry is None and item.kind == "bytes":
                result[key] = ""
            else:
                result[key] = self._value(item, entry, (path, (key,)), owner)
        return result

    def _scalar(self, type_: Type, value: Any, path: Place, owner: str) -> Any:
        kind = type_.kind
        if kind == "any":
            if self.counting:
                self.keys += count_keys(value)
            return value
        if value is None:
            return _ZERO.get(kind)
        if kind == "integer":
            limit = _INT_LIMITS.get(type_.format, 2**63)
            if type(value) is int and -limit <= value < limit:
                return value
        elif kind == "quantity":
            try:
                return quantity.canonical(value if type(value) in (str, int, float) else "{}")
            except quantity.QuantityError as error:
                raise DecodeError(str(error)) from None
        elif kind == "int-or-string":
            if type(value) is str or (type(value) is int and -(2**31) <= value < 2**31):
                return value
        elif kind == "number":
            if type(value) in (int, float):
                return value
        elif kind in ("time", "microtime"):
            if type(value) is str:
                return _time(value, kind)
        elif kind == "bytes":
            if type(value) is str:
                return check_base64(value)
        elif type_.native is type(value):
            return value
        raise _mismatch(type_, value, path, owner)


def _kept_empty(field: Type, required: bool) -> bool:
    """Return whether an empty value stays: a struct always, a list or map if it must be there, a zero if it counts."""
    if field.kind == "struct" or field.kind == "any":
        return True
    return required if field.kind in ("list", "map") else field.keeps_zero


_ZERO = {
    "string": "",
    "boolean": False,
    "integer": 0,
    "number": 0,
    "quantity": "0",
    "bytes": "",
    "int-or-string": 0,
}


def count_keys(value: Any) -> int:
    """Return how many keys all objects inside a value have."""
    if type(value) is dict:
        return len(value) + sum(count_keys(item) for item in value.values() if type(item) in (dict, list))
    if type(value) is list:
        return sum(count_keys(item) for item in value if type(item) in (dict, list))
    return 0


def json_name(value: Any) -> str:
    """Return what JSON calls a value, in Go's words."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    return "number"


def _go_type(type_: Type) -> str:
    if type_.kind == "integer":
        return type_.format or "int64"
    if type_.kind == "list":
        assert type_.item is not None
        return "[]" + _go_type(type_.item)
    if type_.kind == "map":
        assert type_.item is not None
        return "map[string]" + _go_type(type_.item)
    if type_.kind == "struct":
        return f"{type_.package}.{type_.name}"
    return _GO_TYPES.get(type_.kind, type_.kind)


def _mismatch(type_: Type, value: Any, path: Place, owner: str) -> DecodeError:
    """Return the error in the words of Go's decoder."""
    given = json_name(value)
    if given == "number" and type_.kind == "integer":
        given = f"number {orjson.dumps(value).decode()}"
    names = []
    while path is not None:
        path, step = path
        if type(step) is str:  # Go leaves out which item of a list or a map it was
            names.append(step)
    where = ".".join(reversed(names))
    place = f"struct field {owner}.{where}" if where else "value"
    text = f"json: cannot unmarshal {given} into Go {place} of type {_go_type(type_)}"
    return DecodeError(text, _not_converted(type_, value))


_GO_KINDS = {bool: "bool", str: "string", int: "int64", float: "float64", dict: "map", list: "slice"}
_CONVERTIBLE = {("int64", "string")} | {
    (number, size) for number in ("int64", "float64") for size in ("int32", "int64")
}


def _not_converted(type_: Type, value: Any) -> str:
    """Return what Go says when it converts a decoded value; empty for types that read JSON themselves."""
    given = _GO_KINDS.get(type(value), "invalid")
    match type_.kind:
        case "map":
            return f"cannot restore map from {given}"
        case "list":
            return f"cannot restore slice from {given}"
        case "struct":
            return f"cannot restore struct from: {given}"
        case "string" | "boolean" | "integer" | "number":
            wanted = _go_type(type_)
            convertible = (given, wanted) in _CONVERTIBLE
            return f"cannot convert {given} to {wanted}" if convertible else f"unrecognized type: {wanted}"
    return ""


def check_base64(value: str) -> str:
    """Return the text without the breaks that Go passes over; raise DecodeError if it is not in base64."""
    plain = value.replace("\n", "").replace("\r", "")
    try:
        base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        raise DecodeError("illegal base64 data at input byte " + str(_bad_byte(value))) from None
    return plain


def _bad_byte(value: str) -> int:
    for index, char in enumerate(value):
        if not (char.isascii() and (char.isalnum() or char in "+/=")):
            return index
    return len(value) - len(value) % 4


@bounded_cache()
def _time(value: str, kind: str) -> str:
    if not _TIME.match(value):
        raise DecodeError(
            f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{value}" as "2006"'
        )
    try:
        moment = datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise DecodeError(f'parsing time "{value}": value out of range') from None
    precision = "microseconds" if kind == "microtime" else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"
