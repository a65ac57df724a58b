"""What the autoscaler asks of a cloud: groups of machines, how many there are, more of them, fewer of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from pybernetes.api.resource import Object

RUNNING, CREATING, DELETING = "Running", "Creating", "Deleting"
OUT_OF_RESOURCES = 1  # the class of errors that are the cloud's own lack


class CloudError(Exception):
    """The cloud refused, or did not answer; the text says what."""


class NotImplementedByCloud(CloudError):
    """The cloud does not have what was asked for, and never will."""


class NodeGroup(NamedTuple):
    """A group of machines that are alike."""

    id: str
    minimum: int
    maximum: int
    debug: str = ""


class Instance(NamedTuple):
    """A machine, by the name that the cloud has for it, which is its node's provider id."""

    id: str
    state: str = ""
    error_code: str = ""
    error_message: str = ""
    error_class: int = 0


class NodeReference(NamedTuple):
    """A node, as far as a cloud wants to know it."""

    name: str
    provider_id: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}


class GroupOptions(NamedTuple):
    """What may differ between groups."""

    utilization_threshold: float = 0.5
    gpu_utilization_threshold: float = 0.5
    unneeded_seconds: float = 600.0
    unready_seconds: float = 1200.0
    provision_seconds: float = 900.0
    ignores_daemon_sets: bool = False


class CloudProvider(Protocol):
    """A cloud. Every method may raise CloudError."""

    async def refresh(self) -> None:
        """Bring what the cloud knows up to date; called before every pass."""

    async def node_groups(self) -> list[NodeGroup]:
        """Return all groups."""

    async def group_of(self, node: NodeReference) -> str:
        """Return the group of a node; nothing if the autoscaler is to leave it alone."""

    async def target_size(self, group: str) -> int:
        """Return how many machines a group is to have."""

    async def instances(self, group: str) -> list[Instance]:
        """Return the machines of a group."""

    async def template(self, group: str) -> Object | None:
        """Return the Node that a new machine of a group would be; None if the cloud cannot tell."""

    async def options(self, group: str, defaults: GroupOptions) -> GroupOptions:
        """Return the options of a group."""

    async def increase(self, group: str, delta: int) -> None:
        """Give a group more machines."""

    async def delete_nodes(self, group: str, nodes: Sequence[NodeReference]) -> None:
        """Delete certain machines of a group; it is smaller then."""

    async def decrease_target(self, group: str, delta: int) -> None:
        """Take back a wish for machines that never came; ``delta`` is negative."""

    async def node_price(self, node: NodeReference, seconds: float) -> float:
        """Return what a node costs for a time."""

    async def pod_price(self, pod: Object, seconds: float) -> float:
        """Return what a pod would cost on a machine that fits it perfectly."""

    async def close(self) -> None:
        """End the connection."""
