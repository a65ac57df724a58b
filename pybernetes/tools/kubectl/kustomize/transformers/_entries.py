"""Adding entries to mappings, for labels and annotations."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, apply
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, STRING, Node, scalar
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import set_field

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


def as_specs(specs: list[Any]) -> list[FieldSpec]:
    """Return field specifications from a configuration; a kustomization has them ready."""
    return [spec if isinstance(spec, FieldSpec) else FieldSpec.from_value(spec) for spec in specs]


def add_entries(resources: ResourceList, entries: dict[str, str], specs: list[Any]) -> None:
    """Add entries to the mappings that specifications name."""
    ready = as_specs(specs)
    by_kind: dict[str, list[FieldSpec]] = {}
    for resource in resources.items if entries else ():
        kind = resource.kind
        if kind not in by_kind:
            by_kind[kind] = [spec for spec in ready if spec.gvk.kind in ("", kind)]
        for name in sorted(entries):
            # One node for all fields of an object, as in the original: what changes one later changes all.
            value = scalar(entries[name], STRING)

            def change(node: Node, name: str = name, value: Node = value) -> None:
                set_field(node, name, value)

            for spec in by_kind[kind]:
                apply(resource, spec, change, MAPPING, "!!map")
    resources.drop_gone()
