"""What LowNodeUtilization and HighNodeUtilization share: how full nodes are, and taking pods off some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.node_usage import Amounts, Usage
from pybernetes.control_plane.descheduler.plugin import Decisions, Outcome, PluginError
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.affinity_terms import Taint, Toleration, is_tolerated
from pybernetes.scheduling.columns import Bools, Ints
from pybernetes.scheduling.pods import Pod

METRIC = "MetricResource"  # what a Prometheus query tells about: a share of the node
BASIC = ("cpu", "memory", "pods")
Thresholds = Mapping[str, float]


def check_thresholds(thresholds: Thresholds | None) -> str:
    """Return what is wrong with thresholds; nothing if all is well."""
    if not thresholds:
        return "no resource threshold is configured"
    for name, percentage in thresholds.items():
        if not 0 <= percentage <= 100:
            return f"{name} threshold not in [0, 100] range"
    return ""


def check_namespaces(arguments: Object) -> str:
    """Return what is wrong with the namespaces whose pods may be evicted."""
    if (arguments.get("evictableNamespaces") or {}).get("include"):
        return "only Exclude namespaces can be set, inclusion is not supported"
    return ""


class Utilization:
    """Use and capacity of all nodes by resource, in columns; requests stand for use where nobody measures it."""

    def __init__(self, view: View, names: Iterable[str], usage: Usage | None = None) -> None:
        self.view, self.names, self.measured = view, tuple(names), usage
        self.used = {name: self._used(name) for name in self.names}
        self.capacity = {name: self._capacity(name) for name in self.names}
        self.percent = {
            name: np.divide(
                used * 100.0, self.capacity[name], out=np.zeros(len(used)), where=self.capacity[name] > 0
            )
            for name, used in self.used.items()
        }

    def _used(self, name: str) -> Ints:
        snapshot = self.view.snapshot
        if name == "pods":
            return snapshot.pod_count[snapshot.all].copy()
        if self.measured is None:
            number = snapshot.resources.ids.get(name)
            if number is None or number >= len(snapshot.requested):
                return np.zeros(snapshot.size, dtype=np.int64)
            return snapshot.requested[number, snapshot.all].copy()
        result = np.zeros(snapshot.size, dtype=np.int64)
        for row in np.flatnonzero(self.view.nodes).tolist():
            node = snapshot.names[row]
            if node not in self.measured.nodes:
                if name == METRIC:
                    raise PluginError(f"error getting node usage: unable to find metric entry for {node}")
                text = f'unable to find node "{node}" in the collected metrics'
                raise PluginError(f"error getting node usage: {text}")
            if name not in self.measured.nodes[node]:
                text = f'unable to find "{name}" resource for collected "{node}" node metric'
                raise PluginError(f"error getting node usage: {text}")
            result[row] = self.measured.nodes[node][name]
        return result

    def _capacity(self, name: str) -> Ints:
        snapshot = self.view.snapshot
        if name == METRIC:
            return np.full(snapshot.size, 100, dtype=np.int64)
        if name == "pods":
            return snapshot.allowed_pods[snapshot.all]
        number = snapshot.resources.ids.get(name)
        if number is None or number >= len(snapshot.allocatable):
            return np.zeros(snapshot.size, dtype=np.int64)
        return snapshot.allocatable[number, snapshot.all]

    def below(self, thresholds: Thresholds) -> Bools:
        """Return the nodes that use no more than the thresholds, of any resource."""
        result = self.view.nodes.copy()
        for name, threshold in thresholds.items():
            result &= self.percent[name] <= threshold
        return result

    def above(self, thresholds: Thresholds) -> Bools:
        """Return the nodes that use more than the threshold of some resource."""
        result = np.zeros_like(self.view.nodes)
        for name, threshold in thresholds.items():
            result |= self.percent[name] > threshold
        return result & self.view.nodes

    def average(self, name: str) -> float:
        """Return the average use of a resource, in percent, over the nodes that have it."""
        rows = self.view.nodes & ((self.capacity[name] > 0) | (name in BASIC))
        return float(self.percent[name][rows].mean()) if rows.any() else 0.0

    def states(self, rows: Bools, thresholds: Thresholds) -> list[NodeState]:
        """Return some nodes with what they use, and how much of each resource may be used."""
        result = []
        for row in np.flatnonzero(rows).tolist():
            used = {name: int(self.used[name][row]) for name in self.names}
            allowed = {name: int(self.capacity[name][row]) for name in self.names}
            for name, threshold in thresholds.items():
                allowed[name] = int(threshold * 0.01 * allowed[name])
            result.append(NodeState(row, used, allowed))
        return result


@dataclass
class NodeState:
    """A node that pods leave or come to."""

    row: int
    used: Amounts
    allowed: Amounts

    @property
    def load(self) -> int:
        """What nodes are sorted by."""
        return sum(self.used.values())


@dataclass
class Move:
    """Taking pods off source nodes while the nodes that they are to go to have room."""

    utilization: Utilization
    sources: list[NodeState]
    targets: list[NodeState]
    goes_on: Callable[[NodeState, Amounts], bool]
    removable: Bools
    excluded: frozenset[str] = frozenset()  # namespaces
    limit: int | None = None  # evictions per node

    def decide(self) -> Decisions:
        """Give pods, the least important ones of each node first."""
        view, names = self.utilization.view, self.utilization.names
        room = {name: sum(node.allowed[name] - node.used[name] for node in self.targets) for name in names}
        taints = {view.snapshot.taints.values[view.snapshot.taints.codes[node.row]] for node in self.targets}
        welcome: dict[tuple[Toleration, ...], bool] = {}
        on_node = view.table.on_node(np.flatnonzero(self.removable))
        for node in self.sources:
            rows = sorted(on_node.get(node.row, ()), key=lambda row: view.record(row).order())
            if not rows or not self.goes_on(node, room):
                continue
            evicted = 0
            for row in rows:
                pod = view.record(row).pod
                if self.limit is not None and evicted >= self.limit:
                    break
                tolerations = pod.shape.tolerations
                if tolerations not in welcome:
                    welcome[tolerations] = any(_tolerates(tolerations, node_taints) for node_taints in taints)
                if not welcome[tolerations] or pod.namespace in self.excluded or not view.may_leave(row):
                    continue
                used = self._used(pod)
                if used is None:
                    continue  # nobody measures it
                outcome = yield row
                if outcome is Outcome.TOTAL_LIMIT:
                    return
                if outcome is Outcome.NODE_LIMIT:
                    break
                if outcome is None or not outcome.leaves:
                    continue
                evicted += 1
                if not used:  # what a single pod takes is not known: one at a time
                    if self.limit is None:
                        break
                    continue
                for name in names:
                    room[name] -= used[name]
                    node.used[name] -= used[name]
                if not self.goes_on(node, room):
                    break

    def _used(self, pod: Pod) -> Amounts | None:
        """Return what a pod takes; nothing if that is not known of any pod, None if it is not known of this one."""
        utilization = self.utilization
        if utilization.measured is None:
            ids = utilization.view.snapshot.resources.ids
            return {
                name: 1 if name == "pods" else pod.requests.amount(ids.get(name, -1))
                for name in utilization.names
            }
        if utilization.measured.pods is None:
            return {}
        figures = utilization.measured.pods.get(pod.key)
        if figures is None or any(name not in figures for name in utilization.names if name != "pods"):
            return None
        return {name: 1 if name == "pods" else figures[name] for name in utilization.names}


def _tolerates(tolerations: tuple[Toleration, ...], taints: tuple[Taint, ...]) -> bool:
    """Return whether a pod tolerates all of a node's taints, preferences included."""
    return len(tolerations) >= len(taints) and all(is_tolerated(taint, tolerations) for taint in taints)
