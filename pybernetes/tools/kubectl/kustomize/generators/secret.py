"""SecretGenerator: makes a Secret."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.generators.data import base, base64_value, finish, read
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, Node, text
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import set_field

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource import Resource


class Generator:
    """Makes a Secret."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.config, self.loader = config, plugin.loader

    def generate(self) -> list[Resource]:
        """Return it."""
        made = base("Secret", self.config)
        assert made.node is not None
        set_field(made.node, "type", text(self.config.get("type") or "Opaque"))
        entries = Node(MAPPING, content={})
        data = read(self.loader, made.name, self.config)
        for key in sorted(data):
            set_field(entries, key, base64_value(data[key]))
        made.node.content["data"] = entries
        return [finish(made, self.config)]
