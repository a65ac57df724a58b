"""PatchJson6902Transformer: applies a JSON patch to the objects that it selects."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.selector import Selector
from pybernetes.tools.kubectl.kustomize.transformers._json_patch import apply_patch, decode

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Applies a JSON patch."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        path, text = config.get("path", ""), config.get("jsonOp", "")
        self.target: dict[str, Any] = config.get("target") or {}
        if not self.target.get("name"):
            raise BuildError("must specify the target name")
        if not path and not text:
            raise BuildError("empty file path and empty jsonOp")
        if path:
            if text:
                raise BuildError("must specify a file path or jsonOp, not both")
            text = plugin.loader.load(path).decode("utf-8", "replace")
            if not text:
                raise BuildError(f"patch file '{path}' empty seems to be empty")
        if text[0] == "[":
            with wrapped(f"decoding {text}"):
                self.operations = decode(text)
        else:
            self.operations = decode(text)
        if not self.operations:
            raise BuildError(f"patch appears to be empty; file={path}, JsonOp={text}")

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        for resource in Selector(self.target).select(resources.items):
            apply_patch(resource, self.operations)
