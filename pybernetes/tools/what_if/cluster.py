"""A cluster as the scheduler would see it, made of lists of objects."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.scheduling.config import Configuration
from pybernetes.scheduling.cycle import Cycle
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.persistent_volumes import key_of
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.profile import Profile
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot

ENDED = ("Succeeded", "Failed")
_MIRROR = "kubernetes.io/config.mirror"
_COST = "controller.kubernetes.io/pod-deletion-cost"


class QuestionError(ValueError):
    """The question cannot be answered; the message says why."""


class RemovalInputs(NamedTuple):
    """What matters of a pod when it has to go, besides what the scheduler knows."""

    mirror: bool  # of a static pod: only the node's kubelet can end it
    scratch: bool  # it has data that goes with it
    ready: bool
    running: bool
    created: str
    deletion_cost: int


class Use(NamedTuple):
    """What a node has, and how much of it is asked for."""

    cpu: int  # thousandths
    allocatable_cpu: int
    memory: int  # bytes
    allocatable_memory: int
    pods: int
    allowed_pods: int


class Cluster:
    """Nodes with their pods, pods that wait for a node, and all other objects that decisions depend on."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.configuration = configuration or Configuration()
        resources = Resources()
        self.snapshot, self.listers = Snapshot(resources), Listers()
        # The same question gets the same answer: chance always throws the same dice.
        self.handle = Handle(self.snapshot, self.listers, chance=random.Random(0))
        profiles = [Profile(config, self.handle) for config in self.configuration.profiles]
        self.cycles = {profile.scheduler_name: Cycle(self.handle, profile) for profile in profiles}
        self.sort_key = profiles[0].queue_sort.sort_key
        self.pod_reader, self.node_reader = PodReader(resources), NodeReader(resources)
        self.inputs: dict[str, RemovalInputs] = {}  # by uid
        self.waiting: list[Pod] = []
        self._cpu, self._memory = resources.id("cpu"), resources.id("memory")

    def add(self, plural: str, objects: Iterable[Object]) -> None:
        """Take over some objects of a kind."""
        for obj in objects:
            if plural == "pods":
                self._add_pod(obj)
            elif plural == "nodes":
                self.snapshot.set_node(self.node_reader.read(obj))
            else:
                self.listers.set(plural, key_of(obj), obj)

    def _add_pod(self, obj: Object) -> None:
        if (obj.get("status") or {}).get("phase") in ENDED:
            return
        pod = self.pod_reader.read(obj)
        self.inputs[pod.uid] = inputs_of(obj)
        if pod.node:
            self.snapshot.add_pod(pod)
            return
        self.waiting.append(pod)
        if pod.nominated:
            self.handle.nominations.add(pod, pod.nominated)

    # -- what is there -----------------------------------------------------------------------------------

    def nodes(self) -> list[str]:
        """Return the names of all nodes, sorted."""
        return sorted(node.name for node in self.snapshot.nodes if node is not None)

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods on a node, sorted by name."""
        row = self.snapshot.rows.get(node)
        return [] if row is None else sorted(self.snapshot.pods[row].values(), key=lambda pod: pod.key)

    def all_pods(self) -> Iterator[Pod]:
        """Yield all pods, with and without a node."""
        for _, pod in self.snapshot.placed():
            yield pod
        yield from self.waiting

    def inputs_of(self, pod: Pod) -> RemovalInputs:
        """Return what is known of a pod; one that exists only here is ready."""
        return self.inputs.get(pod.uid, _NEW)

    def use(self) -> dict[str, Use]:
        """Return what is asked for on each node."""
        snapshot, size = self.snapshot, self.snapshot.size
        columns = zip(
            snapshot.nodes,
            snapshot.requested[self._cpu, :size].tolist(), snapshot.allocatable[self._cpu, :size].tolist(),
            snapshot.requested[self._memory, :size].tolist(), snapshot.allocatable[self._memory, :size].tolist(),
            snapshot.pod_count[:size].tolist(), snapshot.allowed_pods[:size].tolist(),
            strict=True,
        )  # fmt: skip
        rows = {node.name: Use(*amounts) for node, *amounts in columns if node is not None}
        return dict(sorted(rows.items()))


def inputs_of(obj: Object) -> RemovalInputs:
    """Return what matters of a pod when it has to go."""
    meta, status = obj["metadata"], obj.get("status") or {}
    annotations = meta.get("annotations") or {}
    conditions = status.get("conditions") or ()
    cost = annotations.get(_COST, "0")
    return RemovalInputs(
        mirror=_MIRROR in annotations,
        scratch=any("emptyDir" in volume for volume in obj["spec"].get("volumes") or ()),
        ready=any(
            condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions
        ),
        running=status.get("phase", "Pending") != "Pending",
        created=meta.get("creationTimestamp") or "",
        deletion_cost=int(cost) if cost.lstrip("+-").isdecimal() else 0,
    )


_NEW = RemovalInputs(mirror=False, scratch=False, ready=True, running=True, created="~", deletion_cost=0)
