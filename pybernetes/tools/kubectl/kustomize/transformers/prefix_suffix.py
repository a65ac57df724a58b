"""PrefixSuffixTransformer: puts a prefix before names and a suffix behind them."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.transformers import prefix, suffix

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Puts a prefix before names and a suffix behind them."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.parts = prefix.Transformer(config, plugin), suffix.Transformer(config, plugin)

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        for part in self.parts:
            part.transform(resources)
