"""StorageObjectInUseProtection: volumes, claims and attribute classes stay for as long as they are in use."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, Scope

_FINALIZERS = {
    "persistentvolumes": "kubernetes.io/pv-protection",
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "volumeattributesclasses": "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(Plugin):
    """The plugin."""

    name = "StorageObjectInUseProtection"
    order = 200
    on_by_default = True
    scope = Scope(
        operations=(CREATE,),
        resources=("persistentvolumes", "persistentvolumeclaims", "volumeattributesclasses.storage.k8s.io"),
    )

    def mutate(self, attributes: Attributes) -> None:
        """Add the finalizer that a controller takes off when nothing needs the object."""
        assert attributes.obj is not None
        finalizers = attributes.obj["metadata"].setdefault("finalizers", [])
        wanted = _FINALIZERS[attributes.resource.plural]
        if wanted not in finalizers:
            finalizers.append(wanted)


PLUGIN = StorageObjectInUseProtection
