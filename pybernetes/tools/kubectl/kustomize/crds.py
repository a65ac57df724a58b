"""Configuration of transformers from definitions of custom resources (``crds``): OpenAPI with marks on fields."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.configuration import Configuration, References
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, merge_one
from pybernetes.tools.kubectl.kustomize.resid import Gvk

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.loader import Loader

_MARKS = {
    "x-kubernetes-annotation": "commonAnnotations",
    "x-kubernetes-label-selector": "commonLabels",
    "x-kubernetes-identity": "namePrefix",
}
_REFERENCE = "x-kubernetes-object-ref-"
_MAX_DEPTH = 30
_MAX_FIELDS = 20_000


def load(loader: Loader, paths: list[str]) -> Configuration:
    """Return the configuration that definitions mean."""
    merged = Configuration()
    for path in paths:
        data = loader.load(path)
        try:
            types = typed.load(data)
            if not isinstance(types, dict):
                raise BuildError(
                    "json: cannot unmarshal array into Go value of type accumulator.nameToApiMap"
                )
        except BuildError as error:
            raise BuildError(f"unable to parse open API definition from '{path}': {error.message}") from None
        for name in sorted(types):
            properties = _properties(types, name)
            if all(field in properties for field in ("kind", "apiVersion", "metadata")):
                made = Configuration()
                _Reader(types, Gvk(kind=name.rpartition(".")[2]), made).read(name, [])
                merged = merged.merge(made)
    return merged


def _properties(types: dict[str, Any], name: str) -> dict[str, Any]:
    schema = (types.get(name) or {}).get("Schema") or (types.get(name) or {}).get("schema") or {}
    return schema.get("properties") or {}


class _Reader:
    def __init__(self, types: dict[str, Any], gvk: Gvk, configuration: Configuration) -> None:
        self.types, self.gvk, self.configuration = types, gvk, configuration
        self.fields = 0

    def read(self, name: str, path: list[str]) -> None:
        if len(path) > _MAX_DEPTH:
            raise BuildError(f"the definition of {self.gvk.kind} is nested too deeply")
        for field, schema in sorted(_properties(self.types, name).items()):
            self.fields += 1
            if self.fields > _MAX_FIELDS:
                raise BuildError(f"the definition of {self.gvk.kind} has too many fields")
            here = [*path, field]
            for mark, kind in _MARKS.items():
                if isinstance(schema.get(mark), str):
                    specs = self.configuration.specs
                    specs[kind] = merge_one(specs[kind], FieldSpec("/".join(here), self.gvk))
            version, kind = schema.get(f"{_REFERENCE}api-version"), schema.get(f"{_REFERENCE}kind")
            if isinstance(version, str) and isinstance(kind, str):
                key = schema.get(f"{_REFERENCE}name-key") or "name"
                spec = FieldSpec("/".join([*here, key]), self.gvk)
                added = Configuration()
                added.references = [References(Gvk(version=version, kind=kind), [spec])]
                self.configuration.references = self.configuration.merge(added).references
            if isinstance(schema.get("$ref"), str):
                self.read(schema["$ref"], here)
