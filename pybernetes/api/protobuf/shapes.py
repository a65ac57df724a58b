"""What a message is made of: its fields with their numbers, and what each of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from pybernetes.api.schema import facts
from pybernetes.api.schema.load import compact, definition

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"


class ProtobufError(ValueError):
    """The bytes are no Kubernetes object in protobuf, or the object has no such form."""


class Holds(Enum):
    """How many values a field has."""

    ONE = 1
    LIST = 2
    MAP = 3


class Shape(NamedTuple):
    """A field: its facts, how many values it has, and the schema of one of them (empty for an inlined message)."""

    fact: facts.Fact
    holds: Holds
    node: Object


def fields(name: str) -> Iterator[Shape]:
    """Yield the fields of a message in the order of their numbers."""
    properties = dict(definition(name).get("properties", {}))
    for owner, node in compact().items():  # an inlined message is described where it is inlined
        if not properties and any(fact.inline == name for fact in facts.message(owner)):
            properties = node["properties"]
    for fact in facts.message(name):
        if fact.inline:
            yield Shape(fact, Holds.ONE, {})
        elif fact.name in properties:
            yield _shape(fact, properties[fact.name])


def _shape(fact: facts.Fact, node: Object) -> Shape:
    name = reference(node)
    node = {**definition(name), **node} if name else node
    if "additionalProperties" in node:
        return Shape(fact, Holds.MAP, node["additionalProperties"])
    if node.get("type") == "array" and not fact.wrapped:
        return Shape(fact, Holds.LIST, node["items"])
    return Shape(fact, Holds.ONE, node)


def reference(node: Object) -> str:
    """Return the name of the definition that a schema refers to, or nothing."""
    name: str = node.get("$ref", "").rpartition("/")[2]
    return name


def value_kind(node: Object) -> str:
    """Return what a single value of a schema is: message, empty, texts, bytes, string, boolean, integer, number or raw."""
    name = reference(node)
    node = {**definition(name), **node} if name else node
    if "properties" in node:
        return "message"
    kind = node.get("type") or "raw"
    if kind == "object" and name:  # a message without fields, whose presence says it all
        return "empty"
    if (
        kind == "array"
    ):  # one that is not repeated: a list in a map, or one that is marked, is a message of its own
        return "texts"
    if kind == "string" and node.get("format") == "byte":
        return "bytes"
    return kind if kind in ("string", "boolean", "integer", "number") else "raw"
