"""The types of expressions, and when one fits where another is wanted."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from pybernetes.lib.memory.bounded_cache import bounded_cache

_serials = itertools.count(1)


class Type:
    """A type: a kind, the types inside of it, and a name for objects and variables."""

    __slots__ = ("access", "fields", "kind", "name", "params")

    def __init__(self, kind: str, params: tuple[Type, ...] = (), name: str = "") -> None:
        self.kind, self.params, self.name = kind, params, name
        # Of an object whose fields are known: name to type.
        self.fields: dict[str, Type] | None = None
        # How its fields are read where this is not as it is written: the name in the object, and a conversion.
        self.access: dict[str, tuple[str, Callable[[Any], Any] | None]] = {}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Type)
            and self.kind == other.kind
            and self.name == other.name
            and self.params == other.params
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.name, self.params))

    def __str__(self) -> str:
        if self.kind in ("object", "opaque", "param"):
            return self.name
        if self.kind == "optional":
            return f"optional_type({self.params[0]})"
        if self.params:
            return f"{self.kind}({', '.join(map(str, self.params))})"
        return {"null": "null_type"}.get(self.kind, self.kind)

    __repr__ = __str__


DYN, INT, UINT, DOUBLE = Type("dyn"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, BOOL, NULL = Type("string"), Type("bytes"), Type("bool"), Type("null")
TIMESTAMP, DURATION, TYPE, ERROR = Type("timestamp"), Type("duration"), Type("type"), Type("error")
_PLAIN = {
    "dyn": DYN, "int": INT, "uint": UINT, "double": DOUBLE, "string": STRING, "bytes": BYTES, "bool": BOOL,
    "null": NULL, "timestamp": TIMESTAMP, "duration": DURATION, "type": TYPE,
}  # fmt: skip


def list_of(item: Type) -> Type:
    """Return the type of a list."""
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of a map."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of a value that may be missing."""
    return Type("optional", (value,))


def opaque(name: str) -> Type:
    """Return a type of a library, of which only its functions know what is inside."""
    return Type("opaque", (), name)


def object_of(name: str, fields: dict[str, Type]) -> Type:
    """Return the type of an object with known fields."""
    made = Type("object", (), name)
    made.fields = fields
    return made


def variable() -> Type:
    """Return a type that is not known yet."""
    return Type("param", (), f"%{next(_serials)}")


_NAME = re.compile(r"[A-Za-z_.][A-Za-z0-9_.]*")


@bounded_cache(4 << 20, weight=50)
def named(text: str) -> Type:
    """Return a type as signatures write it: ``list(A)``, ``map(string, dyn)``, ``optional(A)``, ``kubernetes.URL``."""
    type_, rest = _read(text)
    if rest.strip():
        raise ValueError(f"no type: {text}")
    return type_


def _read(text: str) -> tuple[Type, str]:
    match = _NAME.match(text)
    if match is None:
        raise ValueError(f"no type: {text}")
    name, rest = match[0], text[match.end() :]
    params: list[Type] = []
    if rest.startswith("("):
        rest = rest[1:]
        while True:
            inner, rest = _read(rest.lstrip(" "))
            params.append(inner)
            if rest.startswith(")"):
                rest = rest[1:]
                break
            rest = rest[1:]
        return Type(name, tuple(params)), rest
    if name in _PLAIN:
        return _PLAIN[name], rest
    if len(name) == 1 and name.isupper():
        return Type("param", (), name), rest
    return opaque(name), rest


Mapping = dict[str, Type]
_NULLABLE = ("null", "object", "opaque", "optional", "timestamp", "duration")


def resolve(type_: Type, known: Mapping, free: bool = False) -> Type:
    """Return the type with all that is known of its variables; what stays unknown is dynamic unless kept free."""
    while type_.kind == "param" and type_.name in known:
        type_ = known[type_.name]
    if type_.kind == "param":
        return type_ if free else DYN
    if not type_.params:
        return type_
    return Type(type_.kind, tuple(resolve(param, known, free) for param in type_.params), type_.name)


def _deref(type_: Type, known: Mapping) -> Type:
    while type_.kind == "param" and type_.name in known:
        type_ = known[type_.name]
    return type_


def _occurs(name: str, type_: Type, known: Mapping) -> bool:
    type_ = _deref(type_, known)
    return (
        type_.name == name
        if type_.kind == "param"
        else any(_occurs(name, param, known) for param in type_.params)
    )


def fits(wanted: Type, given: Type, known: Mapping) -> bool:
    """Return whether a type can stand where another is wanted; notes in ``known`` what this says of variables."""
    wanted, given = _deref(wanted, known), _deref(given, known)
    if wanted is given or (wanted.kind == "param" and wanted == given):
        return True
    if wanted.kind == "param":
        if _occurs(wanted.name, given, known):
            return False
        known[wanted.name] = given
        return True
    if given.kind == "param":
        if _occurs(given.name, wanted, known):
            return False
        known[given.name] = wanted
        return True
    if wanted.kind in ("dyn", "error") or given.kind in ("dyn", "error"):
        return True
    if given.kind == "null":
        return wanted.kind in _NULLABLE
    if wanted.kind == "null":
        return given.kind in _NULLABLE
    if wanted.kind == "type" and given.kind == "type":
        return True
    if wanted.kind != given.kind or wanted.name != given.name or len(wanted.params) != len(given.params):
        return False
    return all(
        fits(wanted_param, other, known)
        for wanted_param, other in zip(wanted.params, given.params, strict=True)
    )


def is_dynamic(type_: Type) -> bool:
    """Return whether nothing is known of a type."""
    return type_.kind in ("dyn", "param", "error")
