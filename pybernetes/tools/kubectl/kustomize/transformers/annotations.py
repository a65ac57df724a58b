"""AnnotationsTransformer: adds annotations."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.transformers._entries import add_entries

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Adds annotations to the fields that hold some."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.entries, self.specs = config.get("annotations") or {}, config.get("fieldSpecs") or []

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        add_entries(resources, self.entries, self.specs)
