"""Putting something before or behind names."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.field_specs import apply
from pybernetes.tools.kubectl.kustomize.transformers._entries import as_specs
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import SCALAR, STRING, Node, scalar
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import set_scalar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resid import Gvk
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


def checked_specs(config: dict[str, Any]) -> list[Any]:
    """Return the field specifications, without which there is nothing to do."""
    if config.get("fieldSpecs") is None:
        raise BuildError("fieldSpecs is not expected to be nil")
    return as_specs(config["fieldSpecs"])


def _keeps_name(gvk: Gvk) -> bool:
    """Return whether names of a kind mean something by themselves."""
    if gvk.kind == "APIService":
        return gvk.group == "apiregistration.k8s.io"
    return gvk.kind in ("CustomResourceDefinition", "Namespace")


def add_affix(
    resources: ResourceList, specs: list[Any], affix: str, annotation: str, join: Callable[[str], str]
) -> None:
    """Change the fields that specifications name."""

    def change(node: Node) -> None:
        set_scalar(node, scalar(join(node.value)))

    for resource in resources.items:
        first = resource.original_id
        if _keeps_name(first.gvk):
            continue
        for spec in specs:
            if not first.gvk.is_selected(spec.gvk):
                continue
            if spec.path == "metadata/name" and affix:
                resource.add_affix(annotation, affix)
                resource.remember()
            apply(resource, spec, change, SCALAR, STRING)
