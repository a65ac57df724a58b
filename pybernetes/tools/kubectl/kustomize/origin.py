"""Where objects are from and what changed them, for ``buildMetadata``."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.remote import repository
from pybernetes.tools.kubectl.kustomize.resource import ORIGIN, TRANSFORMATIONS, Resource

if TYPE_CHECKING:
    from collections.abc import Iterable


class Origin:
    """A path, the repository that it is in, and the plugin that is configured there."""

    def __init__(
        self,
        path: str = "",
        repo: str = "",
        ref: str = "",
        configured_in: str = "",
        by: dict[str, str] | None = None,
    ) -> None:
        self.path, self.repo, self.ref, self.configured_in, self.by = path, repo, ref, configured_in, by or {}

    def append(self, path: str) -> Origin:
        """Return the origin of what a path here means."""
        remote = repository(path)
        if remote is not None:
            return Origin(os.path.normpath(remote.path or "."), remote.address, remote.ref)
        return Origin(os.path.normpath(os.path.join(self.path, path)), self.repo, self.ref)

    def configuring(self, file_name: str, kind: str) -> Origin:
        """Return the origin of what a built-in plugin of a kustomization file does."""
        place = os.path.normpath(os.path.join(self.path, file_name))
        return Origin("", self.repo, self.ref, place, {"apiVersion": "builtin", "kind": kind})

    def text(self) -> str:
        """Return it as YAML."""
        return "".join(f"{line}\n" for line in self._lines())

    def item(self) -> str:
        """Return it as an item of a list in YAML."""
        first, *others = self._lines()
        return "".join([f"- {first}\n", *(f"  {line}\n" for line in others)])

    def _lines(self) -> list[str]:
        fields = (
            ("path", self.path),
            ("repo", self.repo),
            ("ref", self.ref),
            ("configuredIn", self.configured_in),
        )
        lines = [f"{name}: {_scalar(value)}" for name, value in fields if value]
        if self.by:
            lines.append("configuredBy:")
            names = ("apiVersion", "kind", "name", "namespace")
            lines += [f"  {name}: {_scalar(self.by[name])}" for name in names if self.by.get(name)]
        return lines or ["{}"]


def _scalar(value: str) -> str:
    from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import text
    from pybernetes.tools.kubectl.kustomize.yaml_nodes.writing import to_text

    return to_text(text(value)).rstrip("\n")


def of_plugin(resource: Resource, origin: Origin | None) -> Origin | None:
    """Return the origin of what a plugin of a configuration object does."""
    if resource.annotation(ORIGIN) is None or origin is None:
        return None
    names = {"apiVersion": resource.gvk.api_version, "kind": resource.kind, "name": resource.name,
             "namespace": resource.namespace}  # fmt: skip
    place = _field(resource.annotation(ORIGIN) or "", "path")
    return Origin("", origin.repo, origin.ref, place, names)


def _field(text: str, name: str) -> str:
    return next((line.partition(": ")[2] for line in text.splitlines() if line.startswith(f"{name}: ")), "")


def mark_generated(resources: Iterable[Resource], origin: Origin | None) -> None:
    """Say of objects that a generator made them."""
    for resource in resources if origin is not None else ():
        if resource.annotation(ORIGIN) is None:
            assert origin is not None
            resource.set_map("annotations", {**resource.annotations, ORIGIN: origin.text()})


def mark_transformed(resources: Iterable[Resource], origin: Origin) -> None:
    """Say of objects that a transformer changed them."""
    for resource in resources:
        annotations = resource.annotations
        if ORIGIN not in annotations:
            annotations[ORIGIN] = origin.text()
        else:
            annotations[TRANSFORMATIONS] = annotations.get(TRANSFORMATIONS, "") + origin.item()
        resource.set_map("annotations", annotations)
