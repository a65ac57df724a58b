"""Writes each object of a build into a file of its own."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.writer import as_yaml

if TYPE_CHECKING:
    from pybernetes.tools.kubectl.kustomize.resource import Resource
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList


def write_each(resources: ResourceList, directory: str) -> None:
    """Write objects into files of a folder; the namespace is in their names if there are several."""
    namespaces = {item.id.effective_namespace for item in resources.items if not item.id.cluster_scoped}
    for resource in resources.items:
        name = _file_name(resource)
        if len(namespaces) > 1 and not resource.id.cluster_scoped:
            name = f"{resource.id.effective_namespace.lower()}_{name}"
        if "/" in name:
            raise BuildError(f"the object {resource.id} has no name for a file")
        path = os.path.join(directory, name)
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(as_yaml(resource.value()))
        except OSError as error:
            raise BuildError(f"open {path}: {(error.strerror or '').lower()}") from None


def _file_name(resource: Resource) -> str:
    gvk = resource.gvk
    return f"{'_'.join(part for part in gvk.parts() if part)}_{resource.name}.yaml".lower()
