"""ReplicaCountTransformer: sets numbers of replicas."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.field_specs import apply
from pybernetes.tools.kubectl.kustomize.transformers._entries import as_specs
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import INTEGER, SCALAR, Node, scalar
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import set_scalar

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Sets the number of replicas of objects of one name."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        replica = config.get("replica") or {}
        self.name: str = replica.get("name", "")
        self.count: int = replica.get("count", 0)
        self.specs = as_specs(config.get("fieldSpecs") or [])

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources; refuse a name that none of them has."""
        matched = False
        for spec in self.specs:
            for resource in resources.items:
                if any(item.name == self.name and item.gvk.is_selected(spec.gvk) for item in resource.ids):
                    matched = True
                    apply(resource, spec, self._set, SCALAR, INTEGER)
        if not matched:
            kinds = " ".join(str(spec.gvk) for spec in self.specs)
            raise BuildError(
                f"resource with name {self.name} does not match a config with the following GVK [{kinds}]"
            )

    def _set(self, node: Node) -> None:
        set_scalar(node, scalar(str(self.count), INTEGER))
