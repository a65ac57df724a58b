"""Schedules pods as the scheduler would, one after the other, and notes what would happen. Nothing is written."""

from __future__ import annotations

import copy
import heapq
import itertools
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from pybernetes.scheduling.explanation import Explanation, explain
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.pods import Labels, Pod, Shape
from pybernetes.tools.what_if.cluster import Cluster

# Why a pod is looked for a node for.
NEW, WAITING, EVICTED, PREEMPTED, LOST, DAEMON, SCALED = (
    "new", "waiting", "evicted", "preempted", "lost", "daemon", "scaled down",
)  # fmt: skip
MAX_EXPLANATIONS = 20
# Each round evicts pods of lower priority than the last, so that there cannot be many.
MAX_ROUNDS = 100
_PLACE_LABELS = frozenset(("topology.kubernetes.io/zone", "topology.kubernetes.io/region"))
# Plugins whose refusal means that a daemon set does not want its pod on a node.
_UNWANTED = frozenset(("NodeAffinity", "NodeName", "TaintToleration", "NodeUnschedulable"))


@dataclass
class Placement:
    """What would become of a pod: its node, or why it has none."""

    pod: Pod
    cause: str
    node: str = ""
    was_on: str = ""
    message: str = ""  # why it stays pending, or why it is gone for good
    gone: bool = False
    victims: list[Placement] = field(default_factory=list)  # who goes to make room for it


@dataclass
class Explained:
    """Why pods of one kind go where they go, as it is for the first of them."""

    pod: Pod
    explanation: Explanation


class Simulation:
    """One course of events. ``undo`` brings the cluster back to where it began."""

    def __init__(self, cluster: Cluster, explained: frozenset[str] = frozenset()) -> None:
        self.cluster = cluster
        self.placements: dict[str, Placement] = {}  # by uid, in the order of their coming
        self.explained: list[Explained] = []
        self._causes = explained  # pods of these causes are explained even if they find a node
        self._queue: list[tuple[tuple[Any, ...], int, Pod]] = []
        self._order = itertools.count()
        self._failed: list[Pod] = []
        self._leaving: list[tuple[Pod, Placement]] = []  # victims, and for whom
        self._hopeless: dict[Shape, tuple[int, int, str]] = {}
        self._explained: set[tuple[Hashable, bool]] = set()
        self._fresh_shapes: dict[Shape, Shape] = {}
        self._done: list[tuple[str, Any]] = []  # to be undone, last first
        self._preemptions = 0

    # -- what a question changes -------------------------------------------------------------------------

    def enqueue(self, pod: Pod, cause: str, was_on: str = "") -> Placement:
        """Let a pod look for a node; pods come in the order of their priority, then of these calls."""
        number = next(self._order)
        placement = self.placements[pod.uid] = Placement(pod, cause, was_on=was_on)
        if pod.gates:
            placement.message = f"waiting for scheduling gates: {', '.join(pod.gates)}"
        elif pod.shape.scheduler not in self.cluster.cycles:
            placement.message = f"no profile of the configuration is for schedulerName {pod.shape.scheduler}"
        else:
            heapq.heappush(self._queue, (self.cluster.sort_key(pod, number), number, pod))
        return placement

    def enqueue_waiting(self) -> None:
        """Let the pods look for a node that are without one already, who has waited longest first."""
        inputs = self.cluster.inputs_of
        for pod in sorted(self.cluster.waiting, key=lambda pod: (inputs(pod).created, pod.key)):
            if not pod.deleting:
                self.enqueue(pod, WAITING)

    def mark_deleting(self, pod: Pod) -> Pod:
        """Let a pod on its node begin to end; return it as it is then."""
        ending = pod.placed(pod.node)
        ending.deleting = True
        self.cluster.snapshot.replace_pod(pod, ending)
        self._done.append(("ending", (ending, pod)))
        return ending

    def take_off(self, pod: Pod) -> None:
        """Take a pod off its node."""
        self.cluster.snapshot.remove_pod(pod)
        self._done.append(("took off", pod))

    def replace(self, pod: Pod, cause: str) -> Placement:
        """Take a pod off its node; if something controls it, another one like it looks for a node."""
        self.take_off(pod)
        return self.recreate(pod, cause)

    def recreate(self, pod: Pod, cause: str, beside: bool = False) -> Placement:
        """Let a pod like one that has gone look for a node, if something controls it; ``beside`` if it is still there."""
        uid = f"{pod.uid}/again" if beside else pod.uid
        again = Pod(pod.namespace, pod.name, uid, self._fresh(pod.shape))
        if pod.shape.owner is None:
            return self.let_go(again, cause, "no controller makes another", pod.node)
        return self.enqueue(again, cause, pod.node)

    def _fresh(self, shape: Shape) -> Shape:
        """Return the shape of a pod before it had a node: binding gives it the labels of its node's place."""
        fresh = self._fresh_shapes.get(shape)
        if fresh is None:
            labels, fresh = shape.labels, shape
            if _PLACE_LABELS & labels.labels.keys():
                kept = {key: value for key, value in labels.labels.items() if key not in _PLACE_LABELS}
                fresh = copy.copy(shape)
                fresh.labels, fresh.active = Labels(labels.namespace, kept), None
            self._fresh_shapes[shape] = fresh
        return fresh

    def let_go(self, pod: Pod, cause: str, why: str, was_on: str) -> Placement:
        """Note that a pod would be gone for good."""
        placement = Placement(pod, cause, was_on=was_on, message=why, gone=True)
        self.placements[pod.uid] = placement
        return placement

    def set_node(self, node: Node) -> None:
        """Add or change a node."""
        before = self.cluster.snapshot.set_node(node)
        self._done.append(("set", before or node.name))

    def remove_node(self, name: str) -> None:
        """Remove a node; its pods must have been taken off."""
        node = self.cluster.snapshot.remove_node(name)
        if node is not None:
            self.cluster.handle.nominations.drop_node(name)
            self._done.append(("set", node))

    # -- the scheduler's part ----------------------------------------------------------------------------

    def run(self) -> list[Placement]:
        """Schedule until nothing moves any more, and return what became of every pod."""
        for _ in range(MAX_ROUNDS):
            while self._queue:
                self._schedule(heapq.heappop(self._queue)[2])
            if not self._evict():
                break
        self._failed.clear()
        return list(self.placements.values())

    def _schedule(self, pod: Pod) -> None:
        cycle, placement = self.cluster.cycles[pod.shape.scheduler], self.placements[pod.uid]
        known = self._hopeless.get(pod.shape)
        if known is not None and known[:2] == self._state() and not pod.nominated:
            placement.message = known[2]  # nothing has changed since one like it was turned away
            self._failed.append(pod)
            return
        decision = cycle.decide(pod)
        self._explain(pod, placement.cause, bool(decision.node))
        if decision.node:
            self._place(pod, placement, decision.node)
            return
        diagnosis = decision.diagnosis
        assert diagnosis is not None
        placement.message = str(diagnosis)
        if placement.cause == DAEMON and diagnosis.plugins & _UNWANTED:
            del self.placements[pod.uid]
            return
        self._failed.append(pod)
        for plugin in cycle.profile.post_filters if diagnosis.node_count else ():
            outcome = plugin.post_filter(pod, diagnosis, cycle)
            if outcome is None:
                continue
            diagnosis.after = f"preemption: {outcome.message}"
            placement.message = str(diagnosis)
            if outcome.nominated and outcome.victims:
                self._preempt(pod, placement, outcome.nominated, outcome.victims)
                return
            break
        self._hopeless[pod.shape] = (*self._state(), placement.message)

    def _state(self) -> tuple[int, int]:
        """Return what a refusal stays true for: the nodes as they are, and the same pods being evicted."""
        return self.cluster.snapshot.changes.position, self._preemptions

    def _place(self, pod: Pod, placement: Placement, node: str) -> None:
        placed = pod.placed(node)
        for plugin in self.cluster.cycles[pod.shape.scheduler].profile.reserves:
            rejection = plugin.reserve(placed)
            if rejection is not None:
                self._unreserve(placed)
                placement.message = rejection.message
                self._failed.append(pod)
                return
        self.cluster.handle.nominations.remove(pod.uid)
        self.cluster.snapshot.add_pod(placed)
        self._done.append(("placed", placed))
        placement.node, placement.message = node, ""

    def _unreserve(self, pod: Pod) -> None:
        for plugin in reversed(self.cluster.cycles[pod.shape.scheduler].profile.reserves):
            plugin.unreserve(pod)

    def _preempt(self, pod: Pod, placement: Placement, node: str, victims: tuple[Pod, ...]) -> None:
        nominations = self.cluster.handle.nominations
        for other in nominations.on(node):
            if other.priority < pod.priority:  # it will not get the place that was kept for it
                nominations.remove(other.uid)
        nominations.add(pod, node)
        self._done.append(("nominated", (pod, pod.nominated)))
        pod.nominated = node
        self._preemptions += 1
        leaving = {victim.uid for victim, _ in self._leaving}
        self._leaving += [(victim, placement) for victim in victims if victim.uid not in leaving]

    def _evict(self) -> bool:
        """Take the victims off their nodes and let everybody try again who failed; False if there are none."""
        leaving, self._leaving = self._leaving, []
        for victim, placement in leaving:
            if victim.uid in self.cluster.snapshot.pods[self.cluster.snapshot.rows[victim.node]]:
                placement.victims.append(self.replace(victim, PREEMPTED))
        failed, self._failed = self._failed, []
        if not leaving:
            self._failed = failed
            return False
        for pod in failed:
            number = next(self._order)
            heapq.heappush(self._queue, (self.cluster.sort_key(pod, number), number, pod))
        return True

    def _explain(self, pod: Pod, cause: str, has_node: bool) -> None:
        if (has_node and cause not in self._causes) or cause == DAEMON:
            return
        owner = pod.shape.owner
        key = (pod.shape if owner is None else (pod.namespace, owner), has_node)
        if key not in self._explained and len(self._explained) < MAX_EXPLANATIONS:
            self._explained.add(key)
            cycle = self.cluster.cycles[pod.shape.scheduler]
            self.explained.append(Explained(pod, explain(cycle, pod)))

    def undo(self) -> None:
        """Restore the cluster to where it was when this simulation began."""
        snapshot, nominations = self.cluster.snapshot, self.cluster.handle.nominations
        for what, subject in reversed(self._done):
            if what == "placed":
                snapshot.remove_pod(subject)
                self._unreserve(subject)
            elif what == "took off":
                snapshot.add_pod(subject)
            elif what == "ending":
                snapshot.replace_pod(*subject)
            elif what == "nominated":
                pod, nominated = subject
                pod.nominated = nominated
                nominations.remove(pod.uid)
                if pod.nominated:
                    nominations.add(pod, pod.nominated)
            elif isinstance(subject, str):
                snapshot.remove_node(subject)
            else:
                snapshot.set_node(subject)
        self._done.clear()
