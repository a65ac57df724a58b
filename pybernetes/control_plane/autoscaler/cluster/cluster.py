"""What is known of the cluster: nodes and pods in the scheduler's columns, and the objects that decisions look up."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord, RecordReader
from pybernetes.control_plane.autoscaler.cluster.taint_rules import TO_BE_DELETED, TaintRules
from pybernetes.lib import rfc3339
from pybernetes.scheduling.config import Configuration
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nodes import Node, NodeReader
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.profile import Profile
from pybernetes.scheduling.resource_requests import Resources, whole
from pybernetes.scheduling.snapshot import Snapshot

SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_NONE = Fraction(0)
# Conditions besides Ready in which a node takes no pods.
_BAD = ("DiskPressure", "NetworkUnavailable")


class Capacity(NamedTuple):
    """All that a node has, and not only what is left for pods."""

    amounts: tuple[tuple[str, Fraction], ...] = ()
    cores: int = 0  # thousandths
    memory: int = 0  # bytes


class ClusterNode(NamedTuple):
    """A node, and what the autoscaler needs beside the scheduler's view of it."""

    node: Node
    provider_id: str
    annotations: dict[str, str]
    taints: tuple[Object, ...]
    created: float
    ready: bool  # takes pods: its conditions are well, and it does not only start
    cordoned: bool
    capacity: Capacity

    @property
    def name(self) -> str:
        """Its name."""
        return self.node.name

    @property
    def deleting(self) -> bool:
        """Whether it has the taint of a node that is about to go."""
        return any(taint.get("key") == TO_BE_DELETED for taint in self.taints)


class Schedulers(NamedTuple):
    """Schedulers whose pods alone matter, if any are named, and those that are not waited for."""

    allowed: frozenset[str] = frozenset()
    bypassed: frozenset[str] = frozenset()


class Cluster:
    """Kept up to date by ``set_pod``, ``set_node`` and ``set_object``."""

    def __init__(
        self,
        configuration: Configuration | None = None,
        taints: TaintRules | None = None,
        schedulers: Schedulers | None = None,
    ) -> None:
        self.taints, self._schedulers = taints or TaintRules(), schedulers or Schedulers()
        self.resources = Resources()
        self.snapshot, self.listers = Snapshot(self.resources), Listers()
        # Equal clusters get equal decisions: chance always throws the same dice.
        self.handle = Handle(self.snapshot, self.listers, chance=random.Random(0))
        profiles = [Profile(config, self.handle) for config in (configuration or Configuration()).profiles]
        self.cycles = {profile.scheduler_name: Cycle(self.handle, profile) for profile in profiles}
        self._other = next(iter(self.cycles.values()))
        self.pod_reader, self.node_reader = PodReader(self.resources), NodeReader(self.resources)
        self._records = RecordReader(self.pod_reader)
        self.nodes: dict[str, ClusterNode] = {}
        self.records: dict[str, PodRecord] = {}  # by namespace/name
        self.by_uid: dict[str, PodRecord] = {}
        self.pending: dict[str, PodRecord] = {}  # those that the scheduler found no room for
        self.bookings: list[
            list[Pod]
        ] = []  # pods that do not exist and for which room is kept, in lists of those alike

    def cycle(self, pod: Pod) -> Cycle:
        """Return the rules for a pod; those of the first profile if its scheduler is another program."""
        return self.cycles.get(pod.shape.scheduler, self._other)

    # -- changes -----------------------------------------------------------------------------------------

    def read_pod(self, obj: Object) -> PodRecord:
        """Return what is kept of a pod."""
        return self._records.read(obj)

    def read_node(self, obj: Object) -> ClusterNode:
        """Return what is kept of a node."""
        meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
        created = _seconds(meta.get("creationTimestamp") or "")
        conditions = {
            condition.get("type"): condition.get("status") == "True"
            for condition in status.get("conditions") or ()
        }
        taints = tuple(spec.get("taints") or ())
        ready = conditions.get("Ready", False) and not any(conditions.get(kind, False) for kind in _BAD)
        return ClusterNode(
            self.node_reader.read(obj),
            spec.get("providerID") or "",
            dict(meta.get("annotations") or {}),
            taints,
            created,
            ready and not any(self.taints.unready(taint.get("key", "")) for taint in taints),
            bool(spec.get("unschedulable")),
            capacity_of(status),
        )

    def set_pod(self, key: str, record: PodRecord | None) -> None:
        """Store a pod, or remove it (None)."""
        old = self.records.pop(key, None)
        if old is not None:
            self.by_uid.pop(old.pod.uid, None)
            self.pending.pop(key, None)
            if counts(old):
                self.snapshot.remove_pod(old.pod)
        if record is None:
            return
        self.records[key] = self.by_uid[record.pod.uid] = record
        if counts(record):
            self.snapshot.add_pod(record.pod)
        elif self.waits(record):
            self.pending[key] = record

    def waits(self, record: PodRecord) -> bool:
        """Return whether a pod is one to make room for."""
        scheduler = record.pod.shape.scheduler
        if self._schedulers.allowed and scheduler not in self._schedulers.allowed:
            return False
        if record.daemon:  # it belongs onto a node that is there, and no other is of help to it
            return False
        return record.unschedulable or (scheduler in self._schedulers.bypassed and record.untried)

    def set_node(self, name: str, node: ClusterNode | None) -> None:
        """Store a node, or remove it (None)."""
        if node is None:
            self.nodes.pop(name, None)
            self.snapshot.remove_node(name)
        else:
            self.nodes[name] = node
            self.snapshot.set_node(node.node)

    def set_object(self, kind: str, key: str, obj: Object | None) -> None:
        """Store another object that decisions look up, or remove it (None)."""
        self.listers.set(kind, key, obj)

    # -- what is there -----------------------------------------------------------------------------------

    def pods_on(self, name: str) -> list[PodRecord]:
        """Return the pods on a node."""
        row = self.snapshot.rows.get(name)
        if row is None:
            return []
        return [self.by_uid[uid] for uid in self.snapshot.pods[row] if uid in self.by_uid]

    def totals(self, names: Iterable[str]) -> tuple[int, int]:
        """Return the cores (in thousandths) and the bytes of memory of some nodes: all of them, not what is left for pods."""
        cores = memory = 0
        for name in names:
            capacity = self.nodes[name].capacity
            cores += capacity.cores
            memory += capacity.memory
        return cores, memory


def capacity_of(status: Object) -> Capacity:
    """Return what a node has by its status."""
    amounts = {name: quantity.parse(text) for name, text in (status.get("capacity") or {}).items()}
    cores, memory = (whole(name, amounts.get(name, _NONE)) for name in ("cpu", "memory"))
    return Capacity(tuple(sorted(amounts.items())), cores, memory)


def counts(record: PodRecord) -> bool:
    """Return whether a pod takes something from a node."""
    return bool(record.pod.node) and not record.ends


def _seconds(text: str) -> float:
    return rfc3339.parse(text) if text else 0.0
