"""PersistentVolume protection: a bound volume is deleted only after its claim."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import PERSISTENT_VOLUMES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._volumes.protection import Protection

FINALIZER = "kubernetes.io/pv-protection"


class PersistentVolumeProtection(Protection):
    """Works on names of volumes."""

    name = "persistentvolume-protection-controller"
    kind = PERSISTENT_VOLUMES
    finalizer = FINALIZER

    async def is_used(self, obj: Object) -> bool:
        return obj.get("status", {}).get("phase") == "Bound"


CONTROLLER = Descriptor(
    name=PersistentVolumeProtection.name,
    aliases=("pv-protection",),
    identity="pv-protection-controller",
    build=lambda runtime, options: PersistentVolumeProtection(runtime),
)
