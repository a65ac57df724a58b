"""Lists in files beside the server's schemas. A server validates the objects that it is sent and nobody sends it a list, so
kubectl looks at the whole list before it sends the first object of it."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pybernetes.tools.kubectl.connection.client import Client

_PRIMITIVES = {"boolean": {"boolean"}, "integer": {"integer", "number"}, "number": {"integer", "number"}}


def complaints(value: Any, client: Client) -> list[str]:
    """Return what is wrong with a list, by the schemas that the server has; kinds without a schema are not looked at."""
    document = client.json("GET", "/openapi/v2", query={"timeout": "32s"})
    definitions = document.get("definitions") or {}
    plain = (value["apiVersion"], value["kind"]) == ("v1", "List")
    problems: list[str] = []
    for item in value["items"] if plain else [value]:
        name = _definition(definitions, item)
        if name:
            problems += _Schemas(definitions).wrong({"$ref": f"/{name}"}, item, item["kind"], name)
    return problems


def _definition(definitions: dict[str, Any], value: Any) -> str:
    """Return the name of the schema of an object."""
    group, _, version = str(value["apiVersion"]).rpartition("/")
    wanted = {"group": group, "version": version, "kind": value["kind"]}
    for name, schema in definitions.items():
        if wanted in (schema.get("x-kubernetes-group-version-kind") or ()):
            return name
    return ""


class _Schemas:
    """The schemas of a document; ``path`` is where a value is, ``name`` where its schema is."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def wrong(self, schema: Any, value: Any, path: str, name: str) -> Iterator[str]:
        """Yield what is wrong with a value."""
        while "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = self._definitions.get(name) or {}
        kind = schema.get("type")
        if "properties" in schema and kind in (None, "object"):
            yield from self._kind(schema, value, path, name)
        elif kind == "object":
            yield from self._map(schema.get("additionalProperties"), value, path, name)
        elif kind == "array":
            yield from self._array(schema.get("items") or {}, value, path, name)
        elif isinstance(kind, str) and (actual := _type(value)) != kind:
            if actual in ("map", "array") or (kind != "string" and actual not in _PRIMITIVES[kind]):
                yield _mistyped(path, name, actual, kind)

    def _kind(self, schema: Any, value: Any, path: str, name: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield _mistyped(path, name, _type(value), "map")
            return
        fields = schema["properties"]
        for key, item in sorted(value.items()):
            if item is None:
                continue
            if key in fields:
                yield from self.wrong(fields[key], item, f"{path}.{key}", f"{name}.{key}")
            elif not schema.get("x-kubernetes-preserve-unknown-fields"):
                yield f'ValidationError({path}): unknown field "{key}" in {name}'
        for key in schema.get("required") or ():
            if value.get(key) is None:
                yield f'ValidationError({path}): missing required field "{key}" in {name}'

    def _map(self, schema: Any, value: Any, path: str, name: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield _mistyped(path, name, _type(value), "map")
            return
        for key, item in sorted(value.items()):
            if item is None:
                yield f'unknown object type "nil" in {path}.{key}'
            elif isinstance(schema, dict):
                yield from self.wrong(schema, item, f"{path}.{key}", name)

    def _array(self, schema: Any, value: Any, path: str, name: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield _mistyped(path, name, _type(value), "array")
            return
        for index, item in enumerate(value):
            if item is None:
                yield f'ValidationError({path}): unknown object type "nil" in {path}[{index}]'
            else:
                yield from self.wrong(schema, item, f"{path}[{index}]", name)


def _type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", dict: "map", list: "array"}
    return kinds.get(type(value), "string")


def _mistyped(path: str, name: str, actual: str, wanted: str) -> str:
    return f'ValidationError({path}): invalid type for {name}: got "{actual}", expected "{wanted}"'
