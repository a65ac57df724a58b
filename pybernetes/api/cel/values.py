"""What expressions see of a value with a structural schema: its type, the names of its fields, its largest size."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pybernetes.api.cel import types
from pybernetes.api.cel.runtime import MapList, Moment, SetList, Span
from pybernetes.api.cel.types import Type
from pybernetes.lib.memory.bounded_cache import bounded_cache

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

Convert = Callable[[Any], Any]
_MOST_BYTES = 3 * 1024 * 1024
_NAME_LENGTH = 253
_KEYWORDS = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
    "let", "loop", "package", "namespace", "return", "var", "void", "while",
})  # fmt: skip
_ESCAPES = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_EMBEDDED = "x-kubernetes-embedded-resource"


def _capped(schema: Object | None, most: int) -> Object:
    given = (schema or {}).get("maxLength")
    return {"type": "string", "maxLength": min(most, given) if given is not None else most}


def with_head(schema: Object) -> Object:
    """Return the schema of a whole object with the part that every object has."""
    given = schema.get("properties") or {}
    metadata = (given.get("metadata") or {}).get("properties") or {}
    head = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {
            "type": "object",
            "properties": {
                "name": _capped(metadata.get("name"), _NAME_LENGTH),
                "generateName": _capped(metadata.get("generateName"), _NAME_LENGTH - 1),
            },
        },
    }
    return {**schema, "type": schema.get("type", "object"), "properties": {**given, **head}}


@bounded_cache()
def escape(name: str) -> str:
    """Return the name of a field as expressions write it; nothing if they cannot."""
    if name in _KEYWORDS:
        return f"__{name}__"
    if not _ESCAPABLE.fullmatch(name):
        return ""
    return re.sub(r"__|[./-]", lambda match: _ESCAPES[match[0]], name)


class Declared:
    """A schema as expressions see it."""

    __slots__ = ("convert", "fields", "item", "key", "largest", "smallest", "type")

    def __init__(self, type_: Type, smallest: int, largest: int = 0, convert: Convert | None = None) -> None:
        self.type, self.convert = type_, convert
        # Bytes of the shortest JSON, and the most items or characters.
        self.smallest, self.largest = smallest, largest
        self.item: Declared | None = None
        self.key: Declared | None = None
        self.fields: dict[str, Declared] = {}

    def value(self, value: Any) -> Any:
        """Return a JSON value as an expression gets it."""
        return value if self.convert is None or value is None else self.convert(value)

    def limit(self, path: tuple[str, ...]) -> int | None:
        """Return the most items or characters at a path below a variable of this type."""
        declared: Declared | None = self
        for name in path[1:]:
            assert declared is not None
            if name in ("@items", "@values"):
                declared = declared.item
            elif name == "@keys":
                declared = declared.key
            else:
                declared = declared.fields.get(name)
            if declared is None:
                return None
        return declared.largest if declared is not None else None


def declare(schema: Object | None, root: bool = False) -> Declared | None:
    """Return how expressions see values of a schema; None if they do not see them at all."""
    if not schema:
        return None
    if schema.get("x-kubernetes-int-or-string"):
        length = schema.get("maxLength")
        return Declared(types.DYN, 1, length * 4 if length is not None else _MOST_BYTES - 2)
    if root or schema.get(_EMBEDDED):
        schema = with_head(schema)
    match schema.get("type"):
        case "array":
            return _list(schema)
        case "object":
            return _object(schema)
        case "string":
            return _string(schema)
        case "boolean":
            return Declared(types.BOOL, 4)
        case "number":
            return Declared(types.DOUBLE, 1, convert=_double)
        case "integer":
            return Declared(types.INT, 1, convert=_integer)
    return None


def _list(schema: Object) -> Declared | None:
    item = declare(schema.get("items"))
    if item is None:
        return None
    most = schema.get("maxItems")
    largest = max(0, most) if most is not None else (_MOST_BYTES - 2) // (item.smallest + 1)
    declared = Declared(types.list_of(item.type), 2, largest, _list_conversion(schema, item.convert))
    declared.item = item
    return declared


def _list_conversion(schema: Object, inner: Convert | None) -> Convert | None:
    sort = schema.get("x-kubernetes-list-type", "atomic")
    keys = tuple(schema.get("x-kubernetes-list-map-keys") or ())
    if sort == "atomic" and inner is None:
        return None

    def convert(value: Any) -> Any:
        if type(value) is not list:
            return value
        if inner is not None:
            value = [inner(item) for item in value]
        if sort == "set":
            return SetList(value)
        return MapList(value, keys) if sort == "map" else value

    return convert


def _object(schema: Object) -> Declared | None:
    additional = schema.get("additionalProperties")
    if type(additional) is dict:
        value = declare(additional)
        if value is None:
            return None
        most = schema.get("maxProperties")
        largest = max(0, most) if most is not None else (_MOST_BYTES - 2) // (value.smallest + 6)
        inner = value.convert
        convert: Convert | None = None
        if inner is not None:

            def convert(entries: Any) -> Any:
                if type(entries) is not dict:
                    return entries
                return {key: inner(item) for key, item in entries.items()}

        declared = Declared(types.map_of(types.STRING, value.type), 2, largest, convert)
        # Upstream counts nothing for keys, whatever their length.
        declared.item, declared.key = value, Declared(types.STRING, 2)
        return declared
    return _fields(schema)


def _fields(schema: Object) -> Declared:
    required = schema.get("required") or ()
    smallest = 2
    declared: dict[str, Declared] = {}
    type_ = types.object_of("object", {})
    assert type_.fields is not None
    for name, child in (schema.get("properties") or {}).items():
        field = declare(child)
        if field is None:
            continue
        written = escape(name)
        if written:
            declared[written] = field
            type_.fields[written] = field.type
            type_.access[written] = (name, field.convert)
        if name in required and "default" not in child:
            smallest += len(name) + field.smallest + 4
    made = Declared(type_, smallest)
    made.fields = declared
    return made


def _string(schema: Object) -> Declared:
    length = schema.get("maxLength")
    match schema.get("format"):
        case "byte":
            return Declared(types.BYTES, 2, max(0, length) if length is not None else _MOST_BYTES - 2, _bytes)
        case "duration":
            return Declared(types.DURATION, 3, 32, _parsed(Span.parse))
        case "date":
            return Declared(types.TIMESTAMP, 12, 12, _parsed(lambda text: Moment.parse(f"{text}T00:00:00Z")))
        case "date-time":
            return Declared(types.TIMESTAMP, 21, 32, _parsed(Moment.parse))
    if length is not None:
        largest = max(0, length) * 4
    elif schema.get("enum"):
        largest = max((len(value.encode()) for value in schema["enum"] if isinstance(value, str)), default=0)
    else:
        largest = _MOST_BYTES - 2
    return Declared(types.STRING, 2, largest)


def _double(value: Any) -> Any:
    return float(value) if type(value) is int else value


def _integer(value: Any) -> Any:
    return int(value) if type(value) is float and value.is_integer() else value


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value)
    except (binascii.Error, TypeError):
        return b""


def _parsed(parse: Callable[[str], Any]) -> Convert:
    def convert(value: Any) -> Any:
        try:
            return parse(value)
        except (ValueError, TypeError):
            return value

    return convert
