"""What expressions see of a value with a structural schema: typed, and with names that CEL can spell."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import Any

Schema = dict[str, Any]
_SCALARS = {"integer": "int", "number": "double", "string": "string", "boolean": "bool"}
_STRINGS = {"byte": "bytes", "date": "timestamp", "date-time": "timestamp", "duration": "duration"}
_KEYWORDS = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
    "let", "loop", "package", "namespace", "return", "var", "void", "while",
})  # fmt: skip
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_HEAD: Schema = {
    "type": "object",
    "properties": {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
        },
    },
}
_EMBEDDED = "x-kubernetes-embedded-resource"


def with_head(schema: Schema) -> Schema:
    """The schema of a whole object with the part that every object has."""
    return {**schema, "properties": {**(schema.get("properties") or {}), **_HEAD["properties"]}}


def type_of(schema: Schema) -> str:
    """The type of a value in CEL; objects with fields are looked at when they are used."""
    kind = schema.get("type", "")
    if schema.get("x-kubernetes-int-or-string") or schema.get("nullable"):
        return "dyn"
    if kind == "array":
        return f"list({type_of(schema.get('items') or {})})"
    if kind == "object" and type(schema.get("additionalProperties")) is dict:
        return f"map(string, {type_of(schema['additionalProperties'])})"
    if kind == "string":
        return _STRINGS.get(schema.get("format", ""), "string")
    return _SCALARS.get(kind, "dyn")


@lru_cache(maxsize=4096)
def escape(name: str) -> str:
    """The name of a field as expressions write it."""
    if name in _KEYWORDS:
        return f"__{name}__"
    return re.sub(r"__|[./-]", lambda match: _ESCAPES[match[0]], name)


def convert(value: Any, schema: Schema) -> Any:
    """A JSON value as an expression gets it."""
    kind = type(value)
    if kind is dict:
        return _object(value, schema)
    if kind is list:
        items = schema.get("items") or {}
        return [convert(item, items) for item in value]
    if kind is int and schema.get("type") == "number":
        return float(value)
    if kind is float and schema.get("type") == "integer" and value.is_integer():
        return int(value)
    if kind is str and schema.get("type") == "string" and schema.get("format") in _STRINGS:
        return _formatted(value, schema["format"])
    return value


def _object(value: dict[str, Any], schema: Schema) -> dict[str, Any]:
    additional = schema.get("additionalProperties")
    if type(additional) is dict:
        return {key: convert(item, additional) for key, item in value.items()}
    if schema.get(_EMBEDDED):
        schema = with_head(schema)
    properties = schema.get("properties") or {}
    return {escape(key): convert(item, properties[key]) for key, item in value.items() if key in properties}


def _formatted(value: str, form: str) -> Any:
    if form == "byte":
        try:
            return base64.b64decode(value)
        except binascii.Error:
            return b""
    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.timestamp_pb2 import Timestamp

    try:
        if form == "duration":
            return Duration(nanos=0, seconds=0) if value == "0" else _duration(value, Duration)
        moment = Timestamp()
        moment.FromJsonString(value if form == "date-time" else f"{value}T00:00:00Z")
        return moment
    except ValueError:
        return value


_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}


def _duration(value: str, made: Any) -> Any:
    sign = -1 if value.startswith("-") else 1
    parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)", value)
    nanos = sign * round(sum(float(number) * _UNITS[unit] for number, unit in parts))
    result = made()
    result.FromNanoseconds(nanos)
    return result
