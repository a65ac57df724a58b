"""PatchTransformer: applies a patch, strategic or JSON, to what it selects or names."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.factory import from_bytes
from pybernetes.tools.kubectl.kustomize.resource import KIND_CHANGE, NAME_CHANGE, Resource
from pybernetes.tools.kubectl.kustomize.selector import Selector
from pybernetes.tools.kubectl.kustomize.transformers._json_patch import apply_patch, decode

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


class Transformer:
    """Applies a patch."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.target: dict[str, Any] | None = config.get("target")
        text, self.source = _text(config, plugin)
        self.patches, self.operations = self._parsed(text)
        options = config.get("options") or {}
        for patch in self.patches or ():
            if options.get("allowNameChange"):
                patch.enable(NAME_CHANGE)
            if options.get("allowKindChange"):
                patch.enable(KIND_CHANGE)

    def _parsed(self, text: str) -> tuple[list[Resource] | None, list[Any]]:
        patches: list[Resource] | None = None
        operations: list[Any] | None = None
        try:
            patches = from_bytes(text.encode())
        except BuildError:
            pass
        try:
            operations = decode(text)
        except BuildError:
            pass
        if patches and operations:
            raise BuildError(f"illegally qualifies as both an SM and JSON patch: {self.source}")
        if patches is None and operations is None:
            raise BuildError(f"unable to parse SM or JSON patch from {self.source}")
        return patches, operations or []

    def transform(self, resources: ResourceList) -> None:
        """Transform the resources."""
        if self.patches is not None:
            if self.patches:
                self._merge(resources, self.patches)
        elif self.operations:
            self._apply(resources)

    def _merge(self, resources: ResourceList, patches: list[Resource]) -> None:
        if self.target is not None:
            if len(patches) > 1:
                raise BuildError(
                    "Multiple Strategic-Merge Patches in one `patches` entry is not allowed to set `patches.target` "
                    f"field: {self.source}"
                )
            selected = self._selected(resources)
            resources.patch(selected, patches[0])
            return
        for patch in patches:
            with wrapped(f'no resource matches strategic merge patch "{patch.original_id}"'):
                target = resources.by_id(patch.original_id)
            target.patch(patch.copy())

    def _selected(self, resources: ResourceList) -> list[Resource]:
        from pybernetes.api.text import go_format

        assert self.target is not None
        try:
            return Selector(self.target).select(resources.items)
        except BuildError as error:
            shown = go_format.quote(_shown(self.target))
            raise BuildError(f"unable to find patch target {shown} in `resources`: {error.message}") from None

    def _apply(self, resources: ResourceList) -> None:
        if self.target is None:
            raise BuildError(f"must specify a target for JSON patch {self.source}")
        for resource in Selector(self.target).select(resources.items):
            resource.remember()
            apply_patch(resource, self.operations)


def _shown(target: dict[str, Any]) -> str:
    gvk = ".".join(
        target.get(name) or f"[{none}]"
        for name, none in (("kind", "noKind"), ("version", "noVer"), ("group", "noGrp"))
    )
    place = f"{target.get('name') or '[noName]'}.{target.get('namespace') or '[noNs]'}"
    return f"{gvk}/{place}:a={target.get('annotationSelector', '')}:l={target.get('labelSelector', '')}"


def _text(config: dict[str, Any], plugin: Plugin) -> tuple[str, str]:
    """Return the text of the patch, and where it is from."""
    from pybernetes.api.text import go_format
    from pybernetes.tools.kubectl.kustomize.writer import as_yaml

    text, path = config.get("patch", "").strip(), config.get("path", "")
    if not text and not path:
        raise BuildError(f"must specify one of patch and path in\n{as_yaml(config)}")
    if text and path:
        raise BuildError(f"patch and path can't be set at the same time\n{as_yaml(config)}")
    if text:
        return text, f"[patch: {go_format.quote(text)}]"
    try:
        loaded = plugin.loader.load(path)
    except BuildError as error:
        raise BuildError(f"failed to get the patch file from path({path}): {error.message}") from None
    return loaded.decode("utf-8", "replace"), f"[path: {go_format.quote(path)}]"
