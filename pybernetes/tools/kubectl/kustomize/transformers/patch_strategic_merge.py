"""PatchStrategicMergeTransformer: merges patches into the objects that have their names."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.factory import from_bytes, handled

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Merges patches."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        paths, text = config.get("paths") or [], config.get("patches", "")
        if not paths and not text:
            raise BuildError("empty file path and empty patch content")
        self.patches: list[Resource] = []
        for path in paths:
            self.patches += _load(path, plugin)
        if text:
            self.patches += from_bytes(text.encode())
        if not self.patches:
            raise BuildError(f"patch appears to be empty; files=[{' '.join(paths)}], Patch={text}")

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        for patch in self.patches:
            resources.patch([resources.by_id(patch.original_id)], patch)


def _load(path: str, plugin: Plugin) -> list[Resource]:
    """Return the patches of a text, or of the file that it names."""
    try:
        return from_bytes(path.encode())
    except BuildError:
        data = plugin.loader.load(path)
        try:
            return from_bytes(data)
        except BuildError as error:
            raise handled(error, path) from None
