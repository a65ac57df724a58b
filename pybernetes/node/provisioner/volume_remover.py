"""Removes the folders of volumes that nobody needs any more."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import PERSISTENT_VOLUMES
from pybernetes.node.provisioner import plan
from pybernetes.node.provisioner.folders import Folders
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime


class VolumeRemover(Controller):
    """Works on keys of volumes: the folder goes first, so that no volume ever leaves one behind."""

    name = "storage-remover"
    kind = PERSISTENT_VOLUMES

    def __init__(self, runtime: Runtime, directory: Path, folders: Folders) -> None:
        super().__init__(runtime)
        self._directory, self._folders = directory, folders

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and plan.may_be_removed(new)

    async def reconcile(self, key: str) -> float | None:
        """Remove a volume that nobody needs."""
        volume = self.objects.get(key)
        if volume is None or not plan.may_be_removed(volume):
            return None
        path = plan.own_folder(volume, self._directory)
        if path is None:
            return None  # of another node, or made by hand
        await self._folders.remove_volume(path)
        try:
            if not volume["metadata"].get("deletionTimestamp"):
                await self.client.delete(PERSISTENT_VOLUMES, key, uid=volume["metadata"]["uid"])
            left = [
                finalizer
                for finalizer in volume["metadata"].get("finalizers", ())
                if finalizer != plan.FINALIZER
            ]
            await self.client.patch(PERSISTENT_VOLUMES, key, {"metadata": {"finalizers": left}})
        except NotFound:
            pass
        return None
