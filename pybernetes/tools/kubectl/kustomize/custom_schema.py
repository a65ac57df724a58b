"""The schema that a kustomization brings (``openapi.path``): an OpenAPI v2 document."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.schema import Schema

if TYPE_CHECKING:
    from typing import Any

_GVK = "x-kubernetes-group-version-kind"
_STRATEGY, _KEY = "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"
_KEYS = "x-kubernetes-list-map-keys"
_MAX_REFERENCES = 100


def read(document: dict[str, Any]) -> tuple[dict[tuple[str, str], Schema], dict[tuple[str, str], bool]]:
    """Return the types of kinds, and whether kinds have a namespace."""
    definitions = document.get("definitions") or {}
    types: dict[tuple[str, str], Schema] = {}
    for definition in definitions.values():
        for item in definition.get(_GVK) or ():
            if isinstance(item, dict):
                types[_type(item)] = _Lazy(definition, definitions)
    scopes: dict[tuple[str, str], bool] = {}
    for path, methods in (document.get("paths") or {}).items():
        item = (methods.get("get") or {}).get(_GVK)
        if isinstance(item, dict):
            scopes[_type(item)] = scopes.get(_type(item), False) or "namespaces/{namespace}" in path
    return types, scopes


def _type(item: dict[str, Any]) -> tuple[str, str]:
    group, version = item.get("group") or "", str(item.get("version", ""))
    return (f"{group}/{version}" if group else version), str(item.get("kind", ""))


class _Lazy(Schema):
    """A type that is read when it is asked for: types may hold themselves."""

    def __init__(self, definition: dict[str, Any], definitions: dict[str, Any]) -> None:
        self.definition, self.definitions = definition, definitions
        strategies = str(definition.get(_STRATEGY, "")).split(",")
        if "merge" in strategies:
            self.keys = definition.get(_KEYS) or [definition[_KEY]] if _KEY in definition else []

    @property
    def items(self) -> Schema | None:  # type: ignore[override]
        """The type of the items of a list."""
        if self.definition.get("type") not in ("array", ["array"]):
            return None
        return self._resolved(self.definition.get("items"))

    def field(self, name: str) -> Schema | None:
        """Return the type of a field."""
        property_schema = (self.definition.get("properties") or {}).get(name)
        return self._resolved(
            property_schema if property_schema is not None else self.definition.get("additionalProperties")
        )

    def _resolved(self, definition: Any) -> Schema | None:
        if not isinstance(definition, dict):
            return None
        for _ in range(_MAX_REFERENCES):
            if "$ref" not in definition:
                return _Lazy(definition, self.definitions)
            definition = self.definitions.get(str(definition["$ref"]).rpartition("/")[2])
            if not isinstance(definition, dict):
                return None
        return None
