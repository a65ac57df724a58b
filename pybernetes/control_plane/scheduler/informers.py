"""The scheduler's informers: one watch per kind, keeping only the fields that matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, TypeVarTuple, Unpack

from pybernetes.api.resource import Object
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.refs import Kindlike, Ref
from pybernetes.control_plane.scheduler.turns import Turns
from pybernetes.lib.clock import Clock
from pybernetes.lib.event_loop.large import size_of
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.transforms import Transform, kept, read_as
from pybernetes.scheduling import cluster_events
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.pods import PodReader

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
# What every object counts as: reading it and finding its place takes some microseconds.
_LEAST = 64
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


class TurnInformer(Informer):
    """An informer that reads objects, and has their changes handled, in turns."""

    def __init__(
        self, client: Client, kind: Kindlike, turns: Turns, weight: Callable[[], int], **options: Any
    ) -> None:
        super().__init__(client, kind, **options)
        self._turns, self._weight = turns, weight

    async def _turn(
        self,
        objects: Iterable[Object],
        function: Callable[[Unpack[Arguments]], Result],
        *args: *Arguments,
    ) -> Result:
        weight = self._weight() + sum(_LEAST + size_of(obj) for obj in objects)
        return await self._turns.run(weight, function, *args)

    def _complete(self) -> None:
        self._turns.then(super()._complete)


class SchedulerInformers:
    """The informers of a scheduler. ``weight`` tells how many bytes a change has to be held against."""

    def __init__(
        self,
        client: Client,
        pods: PodReader,
        nodes: NodeReader,
        clock: Clock,
        turns: Turns,
        weight: Callable[[], int],
    ) -> None:
        def informer(kind: Ref, transform: Transform, fields: str = "") -> Informer:
            return TurnInformer(client, kind, turns, weight, transform=transform, fields=fields, clock=clock)

        self.nodes = informer(refs.NODES, read_as("node", nodes.read))
        self.pods = informer(refs.PODS, read_as("pod", pods.read), NOT_ENDED)
        self.looked_up = {
            ref.plural: (informer(ref, transform), resource) for ref, transform, resource in LOOKED_UP
        }

    @property
    def all(self) -> list[Informer]:
        """Every informer; pods come last, since what is decided about them depends on the others."""
        return [self.nodes, *(informer for informer, _ in self.looked_up.values()), self.pods]

    @property
    def synced(self) -> bool:
        """Whether everything is known."""
        return all(informer.synced for informer in self.all)
