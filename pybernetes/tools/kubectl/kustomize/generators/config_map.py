"""ConfigMapGenerator: makes a ConfigMap."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.generators.data import base, config_map_value, finish, read
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, set_field

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource import Resource


class Generator:
    """Makes a ConfigMap."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.config, self.loader = config, plugin.loader

    def generate(self) -> list[Resource]:
        """Return it."""
        made = base("ConfigMap", self.config)
        data = read(self.loader, made.name, self.config)
        for key in sorted(data):
            field, value = config_map_value(data[key])
            entries = lookup(made.node, [field], create=MAPPING)
            assert entries is not None
            set_field(entries, key, value)
        return [finish(made, self.config)]
