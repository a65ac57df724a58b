"""The provider: nodes of this machine as instances, and load balancers in front of them."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.cloud.local.health import HealthChecks
from pybernetes.control_plane.cloud.local.load_balancers import LocalLoadBalancers
from pybernetes.control_plane.cloud.local.machine import LocalInstance, Machine
from pybernetes.control_plane.cloud.local.routes import LocalRoutes
from pybernetes.control_plane.cloud.provider import INTERNAL_IP, CloudError, InstanceMetadata, NodeAddress
from pybernetes.lib.clock import Clock

REGION, ZONE = "local", "local-1"
REAL, HOLLOW = "real", "hollow"


class LocalInstances:
    """The nodes of a local cluster."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def _id(self, name: str) -> str:
        return f"local://{self._machine.cluster}/{name}"

    async def _find(self, node: Object) -> LocalInstance | None:
        """Return the instance of a node; CloudError if it belongs to another cloud, or to none."""
        name, identity = node["metadata"]["name"], (node.get("spec") or {}).get("providerID", "")
        instance = await self._machine.instance(name)
        if identity not in ("", self._id(name)) or (instance is None and not identity):
            raise CloudError(f"{name} is not a node of the local cluster {self._machine.cluster}")
        return instance

    async def exists(self, node: Object) -> bool:
        """Return whether the cluster has the node."""
        return await self._find(node) is not None

    async def is_shut_down(self, node: Object) -> bool:
        """Return whether somebody stopped the node."""
        instance = await self._find(node)
        return instance is not None and instance.off

    async def metadata(self, node: Object) -> InstanceMetadata | None:
        """Return what is known of a node; None of one that somebody else made."""
        name = node["metadata"]["name"]
        instance = await self._find(node)
        if instance is None:
            raise CloudError(f"{name} is not there any more")
        addresses = tuple(NodeAddress(INTERNAL_IP, address) for address in instance.addresses)
        kind = REAL if addresses else HOLLOW
        zone, region = instance.zone or ZONE, instance.region or REGION
        return InstanceMetadata(self._id(name), instance.group or kind, addresses, zone, region)


class LocalCloud:
    """The cloud of one machine. It has routes where it is to: otherwise pods reach each other by the pod network."""

    name = "local"

    def __init__(self, machine: Machine, clock: Clock | None = None, *, routed: bool = False) -> None:
        self.routes = LocalRoutes(machine) if routed else None
        self.instances = LocalInstances(machine)
        self._checks = HealthChecks(clock or Clock())
        self.load_balancers = LocalLoadBalancers(machine, self._checks)

    async def run(self) -> None:
        """Check the health of nodes behind load balancers, and keep those away that are not well."""
        await self._checks.run(self.load_balancers.refresh)
