"""A cloud provider as a plug-in: the "cloud" is a file that lists machines, and load balancers are the machines themselves.

A package with this module and the following lines in its pyproject.toml adds the provider to every Pybernetes of the same
environment:

    [project.entry-points."pybernetes.cloud_providers"]
    inventory = "inventory_provider:make"

    pyb cloud-controller-manager --cloud-provider=inventory --cloud-config=cloud.json --kubeconfig=admin.conf

cloud.json has {"inventory": "machines.json"}, and machines.json, which is read anew for each question, so that a machine
is gone as soon as its line is, has

    {"machines": {"node-1": {"address": "192.0.2.11", "type": "r720", "rack": "a"}, "node-2": {"address": "192.0.2.12"}}}
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.provider import CloudError, Ingress, InstanceMetadata, NodeAddress


class Machines:
    """The instances: lines of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def find(self, node: Object) -> dict[str, Any] | None:
        """Return the machine of a node; an error if the file cannot be read, since then nothing is known."""
        name = node["metadata"]["name"]
        identity = (node.get("spec") or {}).get("providerID", "")
        if identity and not identity.startswith("inventory://"):
            raise CloudError(f"{name} is a machine of another cloud: {identity}")
        try:
            text = await asyncio.to_thread(self._path.read_text)
            return json.loads(text)["machines"].get(name)
        except (OSError, ValueError, KeyError) as error:
            raise CloudError(f"the inventory cannot be read: {error!r}") from error

    async def exists(self, node: Object) -> bool:
        """Return whether the file has the machine."""
        return await self.find(node) is not None

    async def is_shut_down(self, node: Object) -> bool:
        """Return whether the file says that the machine is off."""
        machine = await self.find(node)
        return machine is not None and bool(machine.get("off"))

    async def metadata(self, node: Object) -> InstanceMetadata | None:
        """Return what the file says of a machine."""
        name, machine = node["metadata"]["name"], await self.find(node)
        if machine is None:
            raise CloudError(f"{name} is not in the inventory (yet)")
        addresses = (NodeAddress("InternalIP", machine["address"]),)
        return InstanceMetadata(
            f"inventory://{name}", machine.get("type", ""), addresses, zone=machine.get("rack", "")
        )


class Balancers:
    """Load balancers without a machine of their own: kube-proxy on every node answers for the node's address."""

    async def get(self, cluster: str, service: Object) -> Sequence[Ingress] | None:
        """Return what the service itself says: there is nothing else."""
        present = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress")
        return [Ingress(entry["ip"]) for entry in present] if present else None

    async def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Sequence[Ingress]:
        """Return the addresses of the nodes, the first three of them."""
        addresses = [
            entry["address"]
            for node in sorted(nodes, key=lambda node: node["metadata"]["name"])
            for entry in (node.get("status") or {}).get("addresses") or ()
            if entry["type"] == "InternalIP"
        ]
        return [Ingress(address, ip_mode="VIP") for address in addresses[:3]]

    async def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Do nothing: addresses stay until the service changes."""

    async def delete(self, cluster: str, service: Object) -> None:
        """Do nothing: there is nothing to remove."""


class Inventory:
    """The provider: instances and load balancers, no routes."""

    name = "inventory"
    routes = None

    def __init__(self, path: Path) -> None:
        self.instances, self.load_balancers = Machines(path), Balancers()

    async def run(self) -> None:
        """Return: there is nothing to do in the background."""


def make(config: str) -> Inventory:
    """Make the provider of the text of --cloud-config, which names the file with the machines."""
    path = Path(json.loads(config)["inventory"])
    if not path.exists():
        raise ValueError(f"there is no inventory {path}")
    return Inventory(path)
