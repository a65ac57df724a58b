"""Makes folders and volumes for claims, and removes them."""

from __future__ import annotations

from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists
from pybernetes.client.refs import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from pybernetes.node.provisioner import plan
from pybernetes.node.provisioner.folders import Folders, OwnFolders
from pybernetes.node.provisioner.volume_remover import VolumeRemover
from pybernetes.runtime import Manager
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime


class Provisioner(Controller):
    """Works on keys of claims."""

    name = "storage-provisioner"
    kind = PERSISTENT_VOLUME_CLAIMS

    def __init__(self, runtime: Runtime, directory: Path, node: str, folders: Folders) -> None:
        super().__init__(runtime)
        self._directory, self._node, self._folders = directory, node, folders
        self._events = runtime.recorder(plan.NAME)
        self.cache(STORAGE_CLASSES)
        self.cache(NODES)
        self.cache(PERSISTENT_VOLUMES)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and not new["spec"].get("volumeName")

    async def reconcile(self, key: str) -> float | None:
        """Give a claim its volume."""
        claim = self.objects.get(key)
        if claim is None:
            return None
        chosen = self.cache(STORAGE_CLASSES).get(claim["spec"].get("storageClassName") or "")
        node = plan.node_of(claim)
        if not plan.wants_volume(claim, chosen) or (self._node and node != self._node):
            return None
        assert chosen is not None
        wrong = plan.problem(claim, chosen)
        if wrong:
            text = f'failed to provision volume with StorageClass "{chosen["metadata"]["name"]}": {wrong}'
            self._report(claim, "Warning", "ProvisioningFailed", text)
            return None  # another try would fail as well
        if self.cache(PERSISTENT_VOLUMES).get(plan.volume_name(claim)) is not None:
            return None
        text = f'External provisioner is provisioning volume for claim "{key}"'
        self._report(claim, "Normal", "Provisioning", text)
        path = plan.folder(claim, self._directory)
        await self._folders.make_volume(path)
        volume = plan.volume(claim, chosen, path, self._hostname(node) if node else "")
        try:
            await self.client.create(PERSISTENT_VOLUMES, volume)
        except AlreadyExists:
            return None
        self._report(claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {plan.volume_name(claim)}")  # fmt: skip
        return None

    def _hostname(self, node: str) -> str:
        node_object = self.cache(NODES).get(node)
        labels = (node_object or {"metadata": {}})["metadata"].get("labels") or {}
        return labels.get("kubernetes.io/hostname", node)

    def _report(self, claim: Object, type_: str, reason: str, message: str) -> None:
        about = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", **claim}
        self._events.event(about, type_, reason, message)


async def ensure_class(client: Client) -> None:
    """Create the default class unless it exists: changes by others stay."""
    try:
        await client.create(STORAGE_CLASSES, plan.storage_class())
    except AlreadyExists:
        pass


async def provision(client: Client, directory: Path, node: str = "", folders: Folders | None = None) -> None:
    """Provision volumes until cancelled; with a node only for claims whose pods go there, else for all."""
    manager, folders = Manager(client), folders or OwnFolders()
    manager.add(Provisioner(manager.runtime, directory, node, folders))
    manager.add(VolumeRemover(manager.runtime, directory, folders))
    await manager.run()
