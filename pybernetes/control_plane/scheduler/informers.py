"""The scheduler's informers: one watch per kind, keeping only the fields that matter."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client import refs
from pybernetes.client.client import Client
from pybernetes.client.refs import Ref
from pybernetes.lib.clock import Clock
from pybernetes.runtime.informer import Informer
from pybernetes.scheduling import cluster_events
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.pods import PodReader

Transform = Callable[[Object], Object]
# Pods that have ended take nothing from a node.
NOT_ENDED = "status.phase!=Succeeded,status.phase!=Failed"


def _kept(*paths: str) -> Transform:
    """Return a transform that keeps name, labels and annotations of an object, and some of its fields."""
    wanted = [path.split(".") for path in paths]

    def transform(obj: Object) -> Object:
        meta = obj["metadata"]
        names = ("namespace", "name", "uid", "resourceVersion", "labels", "annotations", "deletionTimestamp",
                 "ownerReferences")  # fmt: skip
        kept: Object = {"metadata": {key: meta[key] for key in names if key in meta}}
        for first, *rest in wanted:
            value = obj.get(first)
            if value is None:
                continue
            if not rest:
                kept[first] = value
            elif rest[0] in value:
                kept.setdefault(first, {})[rest[0]] = value[rest[0]]
        return kept

    return transform


def _whole(obj: Object) -> Object:
    return obj


# Kinds that plugins look up, what is kept of their objects, and the events that come of their changes.
LOOKED_UP: tuple[tuple[Ref, Transform, str], ...] = (
    (refs.NAMESPACES, _kept(), ""),
    (refs.SERVICES, _kept("spec.selector"), ""),
    (refs.REPLICATION_CONTROLLERS, _kept("spec.selector"), ""),
    (refs.REPLICA_SETS, _kept("spec.selector"), ""),
    (refs.STATEFUL_SETS, _kept("spec.selector"), ""),
    (refs.POD_DISRUPTION_BUDGETS, _kept("spec.selector", "status.disruptionsAllowed", "status.disruptedPods"), ""),
    (refs.PERSISTENT_VOLUME_CLAIMS, _whole, cluster_events.CLAIM),
    (refs.PERSISTENT_VOLUMES, _whole, cluster_events.VOLUME),
    (refs.STORAGE_CLASSES, _whole, cluster_events.STORAGE_CLASS),
    (refs.CSI_NODES, _kept("spec"), cluster_events.CSI_NODE),
    (refs.CSI_DRIVERS, _kept("spec"), cluster_events.CSI_DRIVER),
    (refs.CSI_STORAGE_CAPACITIES, _kept("nodeTopology", "storageClassName", "capacity", "maximumVolumeSize"),
     cluster_events.CSI_CAPACITY),
)  # fmt: skip


class SchedulerInformers:
    """The informers of a scheduler."""

    def __init__(self, client: Client, pods: PodReader, nodes: NodeReader, clock: Clock) -> None:
        def pod(obj: Object) -> Object:
            return {"metadata": _names(obj["metadata"]), "pod": pods.read(obj)}

        def node(obj: Object) -> Object:
            return {"metadata": _names(obj["metadata"]), "node": nodes.read(obj)}

        self.nodes = Informer(client, refs.NODES, transform=node, clock=clock)
        self.pods = Informer(client, refs.PODS, fields=NOT_ENDED, transform=pod, clock=clock)
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


def _names(meta: Object) -> Object:
    kept = {"name": meta["name"], "resourceVersion": meta.get("resourceVersion", "")}
    if "namespace" in meta:
        kept["namespace"] = meta["namespace"]
    return kept
