"""Makes folders and volumes for claims, and removes them."""

from __future__ import annotations

import os
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
from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import make_folders
from pybernetes.node.provisioner import plan
from pybernetes.node.provisioner.volume_remover import VolumeRemover
from pybernetes.runtime import Manager
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime


class Provisioner(Controller):
    """Works on keys of claims."""

    name = "storage-provisioner"
    kind = PERSISTENT_VOLUME_CLAIMS

    def __init__(self, runtime: Runtime, directory: Path, node: str) -> None:
        super().__init__(runtime)
        self._directory, self._node = directory, node
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
        _make(path)
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


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with opening.folder(path.parent) as directory:
        made = make_folders(directory, path.name, 0o777)  # whoever runs in the container is to write there
    os.close(made)


async def ensure_class(client: Client) -> None:
    """Create the default class unless it exists: changes by others stay."""
    try:
        await client.create(STORAGE_CLASSES, plan.storage_class())
    except AlreadyExists:
        pass


async def provision(client: Client, directory: Path, node: str = "") -> None:
    """Provision volumes until cancelled; with a node only for claims whose pods go there, else for all."""
    manager = Manager(client)
    manager.add(Provisioner(manager.runtime, directory, node))
    manager.add(VolumeRemover(manager.runtime, directory, node))
    await manager.run()
