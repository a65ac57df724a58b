"""SuffixTransformer: puts a suffix behind names."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.resource import SUFFIXES
from pybernetes.tools.kubectl.kustomize.transformers._affix import add_affix, checked_specs

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Puts a suffix behind names."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.suffix: str = config.get("suffix", "")
        self.specs = checked_specs(config)

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        add_affix(resources, self.specs, self.suffix, SUFFIXES, lambda name: f"{name}{self.suffix}")
