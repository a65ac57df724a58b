"""Changes to the scheduler's columns that are only thought of, and undone afterwards."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np

from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.scheduling.columns import Bools
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import Rejection, Scope
from pybernetes.scheduling.pods import Pod


class Simulation:
    """A course of events in a ``with`` statement, after which the cluster is what it was."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.snapshot = cluster, cluster.snapshot
        self._done: list[tuple[str, Any]] = []

    def __enter__(self) -> Simulation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo(0)

    def mark(self) -> int:
        """Return how much was done so far."""
        return len(self._done)

    def undo(self, mark: int) -> None:
        """Undo what was done since a mark."""
        snapshot = self.snapshot
        while len(self._done) > mark:
            what, subject = self._done.pop()
            if what == "placed":
                snapshot.remove_pod(subject)
            elif what == "took off":
                snapshot.add_pod(subject)
            elif isinstance(subject, str):
                snapshot.remove_node(subject)
            else:
                snapshot.set_node(subject)

    def set_node(self, node: Node) -> None:
        """Add or change a node."""
        before = self.snapshot.set_node(node)
        self._done.append(("node", before or node.name))

    def remove_node(self, name: str) -> None:
        """Take a node away; pods on it stay where they are."""
        node = self.snapshot.remove_node(name)
        if node is not None:
            self._done.append(("node", node))

    def place(self, pod: Pod, name: str) -> None:
        """Put a pod onto a node."""
        placed = pod.placed(name)
        self.snapshot.add_pod(placed)
        self._done.append(("placed", placed))

    def take_off(self, pod: Pod) -> None:
        """Take a pod off its node."""
        self.snapshot.remove_pod(pod)
        self._done.append(("took off", pod))

    def guests(self, name: str) -> list[Pod]:
        """Return the pods that are only thought to be on a node."""
        row = self.snapshot.rows.get(name)
        there = self.snapshot.pods[row] if row is not None else {}
        return [pod for uid, pod in there.items() if uid not in self.cluster.by_uid]

    # -- what the scheduler would say --------------------------------------------------------------------

    def reasons(self, pod: Pod, name: str) -> tuple[str, ...]:
        """Return why a pod cannot be on a node; nothing if it can."""
        cycle = self.cluster.cycle(pod)
        answer = cycle.restriction(pod)
        if isinstance(answer, Rejection):
            return (answer.message,)
        if answer[0] is not None and name not in answer[0]:
            return ("node(s) didn't match Pod's node affinity/selector",)
        return cycle.reasons(pod, cycle.active(pod), self.snapshot.rows[name])

    def is_plain(self, pod: Pod) -> bool:
        """Return whether nothing but its node's own labels, taints and amounts decides about a pod."""
        if (
            pod.shape.volumes is not None
            or pod.shape.ports
            or pod.shape.spread
            or pod.shape.affinity is not None
        ):
            return False
        active = self.cluster.cycle(pod).active(pod)
        return all(plugin.filter_scope is not Scope.CLUSTER for plugin in active.filters)

    def fits(self, pod: Pod) -> Bools:
        """Return on which rows a pod can be."""
        cycle, snapshot = self.cluster.cycle(pod), self.snapshot
        answer = cycle.restriction(pod)
        result: Bools = snapshot.valid[snapshot.all].copy()
        if isinstance(answer, Rejection):
            return np.zeros(len(result), dtype=np.bool_)
        if answer[0] is not None:
            only: Bools = np.zeros(len(result), dtype=np.bool_)
            only[cycle.rows_of(answer[0])] = True
            result &= only
        for plugin in cycle.active(pod).filters:
            if not result.any():
                break
            result &= plugin.filter(pod, snapshot.all) == 0
        return result

    def settle(self, pods: list[Pod]) -> int:
        """Put pods that are alike onto nodes that have room for them; return how many found a place."""
        done = 0
        plain = self.is_plain(pods[0])
        while done < len(pods):
            rows = np.flatnonzero(self.fits(pods[done]))
            if not len(rows):
                break
            if not plain:
                self.place(pods[done], self.snapshot.names[rows[0]])
                done += 1
                continue
            for row in rows:
                for _ in range(self._room(pods[done], int(row))):
                    if done < len(pods):
                        self.place(pods[done], self.snapshot.names[row])
                        done += 1
                if done == len(pods):
                    break
        return done

    def book(self) -> set[str]:
        """Put the pods for which room is kept onto nodes; return the nodes, which are needed then."""
        mark = self.mark()
        for group in self.cluster.bookings:
            self.settle(group)
        return {pod.node for _, pod in self._done[mark:]}

    def _room(self, pod: Pod, row: int) -> int:
        """Return how many pods like one a row takes, by their amounts."""
        snapshot = self.snapshot
        most = int(snapshot.allowed_pods[row] - snapshot.pod_count[row])
        for resource, amount in pod.requests.amounts:
            most = min(
                most, int(snapshot.allocatable[resource, row] - snapshot.requested[resource, row]) // amount
            )
        return most
