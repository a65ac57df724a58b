"""VolumeAttributesClass protection: a class is deleted only when no volume or claim uses it."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._volumes.protection import Protection
from pybernetes.runtime.runtime import Runtime


def by_attributes_class(obj: Object) -> list[str]:
    """Index volumes and claims by the classes that they have or are to get."""
    status = obj.get("status", {})
    names = (
        obj["spec"].get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    )
    return list(dict.fromkeys(name for name in names if name))


class VolumeAttributesClassProtection(Protection):
    """Works on names of classes."""

    name = "volumeattributesclass-protection-controller"
    kind = VOLUME_ATTRIBUTES_CLASSES
    finalizer = "kubernetes.io/vac-protection"
    indexes = {
        PERSISTENT_VOLUMES: (by_attributes_class,),
        PERSISTENT_VOLUME_CLAIMS: (by_attributes_class,),
    }

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        for kind in (PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS):
            self.cache(kind).add_handler(self._user_changed)

    def _user_changed(self, old: Object | None, new: Object | None) -> None:
        after = by_attributes_class(new) if new is not None else []
        for name in by_attributes_class(old) if old is not None else []:
            if name not in after:
                self.enqueue(name)

    async def is_used(self, obj: Object) -> bool:
        name = obj["metadata"]["name"]
        return any(
            self.cache(kind).count(by_attributes_class, name)
            for kind in (PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS)
        )


CONTROLLER = Descriptor(
    name=VolumeAttributesClassProtection.name,
    identity="volumeattributesclass-protection-controller",
    build=lambda runtime, options: VolumeAttributesClassProtection(runtime),
)
