"""The configuration of transformers: the fields that they change, by default and as kustomizations add to them."""

from __future__ import annotations

from functools import cache

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import wrapped
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, merge_all
from pybernetes.tools.kubectl.kustomize.resid import Gvk

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.loader import Loader

_FIELDS = {
    "namePrefix": "NamePrefix", "nameSuffix": "NameSuffix", "namespace": "NameSpace",
    "commonAnnotations": "CommonAnnotations", "commonLabels": "CommonLabels", "labels": "Labels",
    "templateLabels": "TemplateLabels", "varReference": "VarReference", "nameReference": "NameReference",
    "images": "Images", "replicas": "Replicas",
}  # fmt: skip


class References:
    """The fields that hold names of objects of a kind."""

    __slots__ = ("gvk", "specs")

    def __init__(self, gvk: Gvk, specs: list[FieldSpec]) -> None:
        self.gvk, self.specs = gvk, specs


class Configuration:
    """Field specifications by the name that configurations have for them."""

    def __init__(self) -> None:
        self.specs: dict[str, list[FieldSpec]] = {name: [] for name in _FIELDS if name != "nameReference"}
        self.references: list[References] = []

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Configuration:
        """Return the configuration of a file."""
        made = cls()
        for name in made.specs:
            made.specs[name] = [FieldSpec.from_value(item) for item in value.get(name, ())]
        made.references = [
            References(
                Gvk.from_value(item), [FieldSpec.from_value(spec) for spec in item.get("fieldSpecs", ())]
            )
            for item in value.get("nameReference", ())
        ]
        made.sort()
        return made

    def sort(self) -> None:
        """Sort all by the order of their kinds."""
        for specs in self.specs.values():
            specs.sort(key=lambda spec: spec.gvk.order())
        self.references.sort(key=lambda references: references.gvk.order())

    def merge(self, other: Configuration) -> Configuration:
        """Return both in one."""
        merged = Configuration()
        for name, specs in self.specs.items():
            with wrapped(f"failed to merge {_FIELDS[name]} fieldSpec"):
                merged.specs[name] = merge_all(specs, other.specs[name])
        with wrapped("failed to merge NameReference fieldSpec"):
            merged.references = _merge_references(self.references, other.references)
        merged.sort()
        return merged


def _merge_references(mine: list[References], others: list[References]) -> list[References]:
    merged = [References(references.gvk, references.specs) for references in mine]
    by_gvk: dict[Gvk, list[References]] = {}
    for references in merged:
        by_gvk.setdefault(references.gvk, []).append(references)
    for other in others:
        alike = by_gvk.setdefault(other.gvk, [])
        for references in alike:
            references.specs = merge_all(references.specs, other.specs)
        if not alike:
            added = References(other.gvk, other.specs)
            alike.append(added)
            merged.append(added)
    return merged


@cache
def default() -> Configuration:
    """Return what holds when nothing else is said."""
    from pybernetes.tools.kubectl.kustomize.default_configuration import value

    return Configuration.from_value(value())


def load(loader: Loader, paths: list[str]) -> Configuration:
    """Return the default configuration with that of files."""
    if not paths:
        return default()
    added = Configuration()
    for path in paths:
        data = loader.load(path)
        with wrapped("error converting YAML to JSON"):
            value = typed.load(data)
        added = added.merge(Configuration.from_value(typed.strict_yaml(value, "TransformerConfig")))
    return default().merge(added)
