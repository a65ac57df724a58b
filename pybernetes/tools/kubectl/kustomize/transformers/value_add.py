"""ValueAddTransformer: sets fields to a value."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, apply
from pybernetes.tools.kubectl.kustomize.selector import Selector
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import SCALAR, STRING, scalar
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, require, set_scalar

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Sets fields, or parts of paths in them."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.value = config.get("value", "").strip() or os.path.basename(plugin.loader.root)
        self.targets: list[dict[str, Any]] = list(config.get("targets") or ())
        if path := config.get("targetFilePath", ""):
            data = plugin.loader.load(path)
            with wrapped("error converting YAML to JSON"):
                value = typed.load(data)
            self.targets += typed.lenient(value, "ValueAddTransformer").get("targets", ())
        if not self.targets:
            raise BuildError("must specify at least one target")
        for target in self.targets:
            if not target.get("fieldPath"):
                raise BuildError("fieldPath cannot be empty")
            if target.get("filePathPosition", 0) < 0:
                raise BuildError(
                    f"value of FilePathPosition ({target['filePathPosition']}) cannot be negative"
                )

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        for target in self.targets:
            chosen = resources.items
            if "selector" in target:
                chosen = Selector(target["selector"]).select(resources.items)
            for resource in chosen:
                self._set(resource, target)

    def _set(self, resource: Resource, target: dict[str, Any]) -> None:
        path: str = target["fieldPath"]
        if path == "metadata/namespace":
            if not resource.id.cluster_scoped:
                spec = FieldSpec(path, create=True)
                apply(resource, spec, lambda node: set_scalar(node, scalar(self.value, STRING)), SCALAR)
            return
        parts: list[str] = []
        for part in path.split("/"):
            if parts and parts[-1].endswith("\\"):
                parts[-1] = f"{parts[-1].removesuffix(chr(92))}/{part}"
            else:
                parts.append(part)
        field = lookup(resource.node, parts, create=SCALAR)
        require(field, SCALAR)
        if field is None:
            return
        position = target.get("filePathPosition", 0)
        value = _inserted(field.value, position - 1, self.value) if position else self.value
        set_scalar(field, scalar(value))


def _inserted(path: str, place: int, part: str) -> str:
    """Return a path with one more part at a place."""
    if not part:
        return path
    parts = [item for item in path.split("/") if item]
    parts.insert(min(place, len(parts)), part)
    return ("/" if path.startswith("/") else "") + "/".join(parts)
