"""The scheduler's informers: one watch per kind, keeping only the fields that matter."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.refs import Ref
from pybernetes.lib.clock import Clock
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.transforms import Transform, kept, read_as
from pybernetes.scheduling import cluster_events
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.pods import PodReader

# Pods that have ended take nothing from a node.
NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"


def _whole(obj: Object) -> Object:
    return obj


# Kinds that plugins look up, what is kept of their objects, and the events that come of their changes.
LOOKED_UP: tuple[tuple[Ref, Transform, str], ...] = (
    (refs.NAMESPACES, kept(), ""),
    (refs.SERVICES, kept("spec.selector"), ""),
    (refs.REPLICATION_CONTROLLERS, kept("spec.selector"), ""),
    (refs.REPLICA_SETS, kept("spec.selector"), ""),
    (refs.STATEFUL_SETS, kept("spec.selector"), ""),
    (refs.POD_DISRUPTION_BUDGETS, kept("spec.selector", "status.disruptionsAllowed", "status.disruptedPods"), ""),
    (refs.PERSISTENT_VOLUME_CLAIMS, _whole, cluster_events.CLAIM),
    (refs.PERSISTENT_VOLUMES, _whole, cluster_events.VOLUME),
    (refs.STORAGE_CLASSES, _whole, cluster_events.STORAGE_CLASS),
    (refs.CSI_NODES, kept("spec"), cluster_events.CSI_NODE),
    (refs.CSI_DRIVERS, kept("spec"), cluster_events.CSI_DRIVER),
    (refs.CSI_STORAGE_CAPACITIES, kept("nodeTopology", "storageClassName", "capacity", "maximumVolumeSize"),
     cluster_events.CSI_CAPACITY),
)  # fmt: skip


class SchedulerInformers:
    """The informers of a scheduler."""

    def __init__(self, client: Client, pods: PodReader, nodes: NodeReader, clock: Clock) -> None:
        self.nodes = Informer(client, refs.NODES, transform=read_as("node", nodes.read), clock=clock)
        self.pods = Informer(
            client, refs.PODS, fields=NOT_ENDED, transform=read_as("pod", pods.read), clock=clock
        )
        self.looked_up = {
            ref.plural: (Informer(client, ref, transform=transform, clock=clock), resource)
            for ref, transform, resource in LOOKED_UP
        }

    @property
    def all(self) -> list[Informer]:
        """Every informer; pods come last, since what is decided about them depends on the others."""
        return [self.nodes, *(informer for informer, _ in self.looked_up.values()), self.pods]

    @property
    def synced(self) -> bool:
        """Whether everything is known."""
        return all(informer.synced for informer in self.all)
