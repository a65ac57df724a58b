"""ImageTagTransformer: changes names, tags and digests of images."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.field_specs import apply
from pybernetes.tools.kubectl.kustomize.transformers._entries import as_specs
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING, SCALAR, SEQUENCE, Node, scalar
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import get, require, set_scalar

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList

_TAG = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$"


class Transformer:
    """Changes the images of one name."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

        self.image: dict[str, str] = config.get("imageTag") or {}
        self.specs = as_specs(config.get("fieldSpecs") or [])
        try:
            self.pattern = compile_pattern(f"^{self.image.get('name', '')}{_TAG}")
        except PatternError as error:
            raise BuildError(
                f"the image name '{self.image.get('name', '')}' is no pattern: {error}"
            ) from None

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources, in all lists of containers and in the fields that specifications name."""
        for resource in resources.items:
            if resource.kind == "CustomResourceDefinition" or resource.node is None:
                continue
            self._walk(resource.node)
            for spec in self.specs:
                apply(resource, spec, self._change)

    def _walk(self, node: Node) -> None:
        if node.kind == SEQUENCE:
            for item in node.content:
                self._walk(item)
        elif node.kind == MAPPING:
            for name, value in node.content.items():
                if value.kind == SCALAR:
                    continue
                self._walk(value)
                if name in ("containers", "initContainers") and value.kind == SEQUENCE:
                    for item in value.content:
                        image = get(item, "image")
                        if image is not None:
                            self._change(image)

    def _change(self, node: Node) -> None:
        require(node, SCALAR)
        if self.pattern.search(node.value) is None:
            return
        name, tag, digest = split(node.value)
        name = self.image.get("newName") or name
        new_tag, new_digest = self.image.get("newTag", ""), self.image.get("digest", "")
        if new_tag or new_digest:
            tag, digest = new_tag, new_digest
        elif self.image.get("tagSuffix"):
            tag, digest = tag + self.image["tagSuffix"], ""
        set_scalar(node, scalar(name + (f":{tag}" if tag else "") + (f"@{digest}" if digest else "")))


def split(image: str) -> tuple[str, str, str]:
    """Return name, tag and digest of an image."""
    start = max(image.find("/"), 0)
    at, colon = image.find("@", start), image.find(":", start)
    if at >= 0 and (colon < 0 or at < colon):
        return image[:at], "", image[at + 1 :]
    if colon < 0:
        return image, "", ""
    return image[:colon], image[colon + 1 : at if at >= 0 else None], image[at + 1 :] if at >= 0 else ""
