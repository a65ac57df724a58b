"""What a cloud has to offer for a cluster to live in it: instances, load balancers and routes.

A provider is any object with the attributes of ``CloudProvider``; a part that its cloud does not have is None. All
that it is given (nodes, services) is read-only. Errors say what is known:

    CloudError                   something failed: it is tried again, and nothing is concluded from it
    ├── InstanceNotFound         the cloud knows for sure that there is no such instance
    ├── ImplementedElsewhere     somebody else cares for this load balancer
    ├── TryAgainLater            not ready yet: try again after so many seconds
    └── CloudTimeout             the cloud did not answer in time
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pybernetes.api.resource import Object

INTERNAL_IP, EXTERNAL_IP, HOSTNAME = "InternalIP", "ExternalIP", "Hostname"


class CloudError(OSError):
    """The cloud did not do what it was asked for."""


class InstanceNotFound(CloudError):
    """The cloud knows for sure that there is no such instance; one that is shut down is there."""


class ImplementedElsewhere(CloudError):
    """Another controller cares for this load balancer."""


class TryAgainLater(CloudError):
    """What was asked for is under way."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class CloudTimeout(CloudError):
    """The cloud did not answer in time."""


@dataclass(frozen=True, slots=True)
class NodeAddress:
    """An address of an instance; its type is that of a node's status."""

    type: str
    address: str


@dataclass(frozen=True, slots=True)
class InstanceMetadata:
    """What a cloud knows of an instance. An empty text means that it knows nothing of the sort."""

    provider_id: str  # such as local://cluster/node
    instance_type: str = ""
    addresses: tuple[NodeAddress, ...] = ()
    zone: str = ""
    region: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ingress:
    """Where a load balancer is reached: at an address or a name."""

    ip: str = ""
    hostname: str = ""
    ip_mode: str = ""  # VIP if packets reach nodes with the balancer's address, Proxy if with the node's

    def as_status(self) -> Object:
        """Return the entry of status.loadBalancer.ingress."""
        fields = {"ip": self.ip, "hostname": self.hostname, "ipMode": self.ip_mode}
        return {name: value for name, value in fields.items() if value}


@dataclass(frozen=True, slots=True)
class Route:
    """The way to the pods of a node. ``addresses`` is None if the cloud does not say to which it leads."""

    destination: str  # a range of pod addresses
    target_node: str = ""
    name: str = ""  # the cloud's own
    addresses: tuple[NodeAddress, ...] | None = None
    blackhole: bool = False  # leads to an instance that is gone


class Instances(Protocol):
    """The machines. A node is found by spec.providerID if it has one, or else by its name."""

    async def exists(self, node: Object) -> bool:
        """Return whether there is such an instance; False has the Node deleted, so that doubts must be raised."""

    async def is_shut_down(self, node: Object) -> bool:
        """Return whether the instance exists and is switched off."""

    async def metadata(self, node: Object) -> InstanceMetadata | None:
        """Return what is known of an instance; None if this cloud has nothing to say about such a node."""


class LoadBalancers(Protocol):
    """What stands in front of the nodes for a Service of type LoadBalancer."""

    async def get(self, cluster: str, service: Object) -> Sequence[Ingress] | None:
        """Return where the load balancer of a service is reached; None if there is none."""

    async def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Sequence[Ingress]:
        """Make the load balancer, or change it to what the service says now; return where it is reached."""

    async def update(self, cluster: str, service: Object, nodes: Sequence[Object]) -> None:
        """Change nothing but the nodes behind the load balancer."""

    async def delete(self, cluster: str, service: Object) -> None:
        """Remove the load balancer and all that belongs to it, also what is left of it."""


class Routes(Protocol):
    """The cloud's own ways to the pods of each node."""

    async def list(self, cluster: str) -> Sequence[Route]:
        """Return all routes of a cluster."""

    async def create(self, cluster: str, name_hint: str, route: Route) -> None:
        """Make a route."""

    async def delete(self, cluster: str, route: Route) -> None:
        """Remove a route, as ``list`` returned it."""


class CloudProvider(Protocol):
    """A cloud."""

    name: str  # the scheme of its provider ids

    @property
    def instances(self) -> Instances | None: ...

    @property
    def load_balancers(self) -> LoadBalancers | None: ...

    @property
    def routes(self) -> Routes | None: ...

    async def run(self) -> None:
        """Work in the background until cancelled, while the controllers run; a cloud without such work returns."""


# Makes a provider of the text of the file that --cloud-config names, which is empty without one.
Factory = Callable[[str], CloudProvider]
