"""PersistentVolumeClaimResize: a claim grows only if it is bound and its storage class allows it."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.quota.persistent_volume_claims import storage_class
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

_REFUSAL = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
    "support resize"
)


def _size(claim: Object) -> str:
    return ((claim.get("spec", {}).get("resources") or {}).get("requests") or {}).get("storage", "0")


class PersistentVolumeClaimResize(Plugin):
    """The plugin."""

    name = "PersistentVolumeClaimResize"
    order = 230
    on_by_default = True
    scope = Scope(operations=(UPDATE,), resources=("persistentvolumeclaims",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._classes = Lookup(inputs.context, "storage.k8s.io", "storageclasses")

    def validate(self, attributes: Attributes) -> None:
        """Refuse an expansion that cannot be."""
        new, old = attributes.obj, attributes.old
        assert new is not None and old is not None
        if quantity.parse(_size(new)) <= quantity.parse(_size(old)):
            return
        if old.get("status", {}).get("phase") != "Bound":
            attributes.refuse("Only bound persistent volume claims can be expanded")
        name = storage_class(new)
        class_ = self._classes.get("", name) if name and name == storage_class(old) else None
        if class_ is None or not class_.get("allowVolumeExpansion"):
            attributes.refuse(_REFUSAL)


PLUGIN = PersistentVolumeClaimResize
