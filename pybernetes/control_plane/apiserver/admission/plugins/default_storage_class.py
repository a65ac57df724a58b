"""DefaultStorageClass: claims that name no storage class get the default one."""

from __future__ import annotations

from pybernetes.api import default_class
from pybernetes.api.quota.persistent_volume_claims import BETA_CLASS
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope


class DefaultStorageClass(Plugin):
    """The plugin."""

    name = "DefaultStorageClass"
    order = 190
    on_by_default = True
    scope = Scope(operations=(CREATE,), resources=("persistentvolumeclaims",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._classes = Lookup(inputs.context, "storage.k8s.io", "storageclasses")

    def mutate(self, attributes: Attributes) -> None:
        """Fill in the class, if there is a default."""
        claim = attributes.obj
        assert claim is not None
        spec = claim.setdefault("spec", {})
        # An empty name is a choice too: no class at all.
        if spec.get("storageClassName") is not None or BETA_CLASS in (
            claim["metadata"].get("annotations") or {}
        ):
            return
        storage_class = default_class.default_class(self._classes.all(), default_class.STORAGE)
        if storage_class is not None:
            spec["storageClassName"] = storage_class["metadata"]["name"]


PLUGIN = DefaultStorageClass
