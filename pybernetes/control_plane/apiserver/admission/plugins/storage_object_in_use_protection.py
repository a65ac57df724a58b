"""StorageObjectInUseProtection: volumes, claims and attribute classes stay for as long as they are in use."""

from __future__ import annotations

from typing import Any

from pybernetes.control_plane.apiserver.admission.chain import CREATE, Attributes, Scope
from pybernetes.control_plane.apiserver.context import ServerContext

_FINALIZERS = {
    "persistentvolumes": "kubernetes.io/pv-protection",
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "volumeattributesclasses": "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection:
    """The plugin."""

    name = "StorageObjectInUseProtection"
    scope = Scope(
        operations=(CREATE,),
        resources=("persistentvolumes", "persistentvolumeclaims", "volumeattributesclasses.storage.k8s.io"),
    )

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        pass

    def mutate(self, attributes: Attributes) -> None:
        """Adds the finalizer that a controller takes off when nothing needs the object."""
        assert attributes.obj is not None
        finalizers = attributes.obj["metadata"].setdefault("finalizers", [])
        wanted = _FINALIZERS[attributes.resource.plural]
        if wanted not in finalizers:
            finalizers.append(wanted)


PLUGIN = StorageObjectInUseProtection
