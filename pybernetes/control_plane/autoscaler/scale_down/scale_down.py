"""Which nodes are not needed: little used, and all of their pods have room elsewhere. Decides, and does nothing."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pybernetes.control_plane.autoscaler.cluster.cluster import SCALE_DOWN_DISABLED, Cluster, ClusterNode
from pybernetes.control_plane.autoscaler.cluster.groups import GroupState
from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord
from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
from pybernetes.control_plane.autoscaler.scale_down import drain_rules
from pybernetes.control_plane.autoscaler.scale_down.utilization import utilization
from pybernetes.lib import rfc3339
from pybernetes.scheduling.disruption_budgets import Budgets, EvictionBudgets
from pybernetes.scheduling.pods import Pod

log = logging.getLogger(__name__)
NO_PLACE = "NoPlaceToMovePods"
NOT_UNDERUTILIZED = "NotUnderutilized"
DISABLED = "ScaleDownDisabledAnnotation"
UNREADY_DISABLED = "ScaleDownUnreadyDisabled"
RECENTLY = "RecentlyUnremovable"
NOT_IN_GROUP = "NotAutoscaled"
MINIMUM = "NodeGroupMinSizeReached"
RESOURCES = "MinimalResourceLimitExceeded"
NOT_LONG_ENOUGH = "NotUnneededLongEnough"
UNREADY_NOT_LONG_ENOUGH = "NotUnreadyLongEnough"
UNEXPECTED = "UnexpectedError"
# Where controllers are looked for: those of other groups have nothing that could be found, but for names that only we know.
_REPLICATED = {
    "ReplicationController": "replicationcontrollers", "ReplicaSet": "replicasets", "Job": "jobs",
    "apps/StatefulSet": "statefulsets", "apps/DaemonSet": "daemonsets",
}  # fmt: skip


class Rules(NamedTuple):
    """What the flags say."""

    drain: drain_rules.Options = drain_rules.Options()
    ignores_daemons: bool = False
    ignores_mirrors: bool = False
    unready_enabled: bool = True
    recheck_seconds: float = 300.0
    non_empty_candidates: int = 30
    pool_ratio: float = 0.1
    pool_least: int = 50
    simulation_seconds: float = 30.0
    least_cores: int = 0  # thousandths
    least_memory: int = 0  # bytes


class Removable(NamedTuple):
    """A node that can go, the pods that move for it, and whether there are others that it waits for."""

    node: str
    group: str
    moves: tuple[PodRecord, ...]
    utilization: float
    waits: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing has to be moved."""
        return not self.moves


@dataclass
class Plan:
    """The nodes that are not needed, and why others are."""

    unneeded: list[Removable] = field(default_factory=list)
    unremovable: dict[str, str] = field(default_factory=dict)  # nodes and the reason


class Planner:
    """Looks at all nodes again and again, and remembers since when each is not needed."""

    def __init__(self, cluster: Cluster, rules: Rules) -> None:
        self._cluster, self._rules = cluster, rules
        self.since: dict[str, float] = {}
        # Nodes that cannot go: until when they are left alone, unless other pods are on them by then.
        self._rest: dict[str, tuple[float, frozenset[str]]] = {}
        self._going: set[str] = set()
        self.plan = Plan()

    def update(
        self,
        groups: Mapping[str, GroupState],
        group_by_node: Mapping[str, str],
        going: Iterable[str],
        now: float,
        contested: Collection[str] = (),
        resting: Collection[str] = (),
    ) -> Plan:
        """Decide which nodes are not needed now; those of groups that rest are not looked at."""
        plan, gone = Plan(), set(going)
        self._going = gone
        self._rest = {
            name: (until, pods)
            for name, (until, pods) in self._rest.items()
            if until > now and pods == self._pods(name)
        }
        usable: list[tuple[float, ClusterNode, GroupState]] = []
        for name, node in self._cluster.nodes.items():
            state = groups.get(group_by_node.get(name, ""))
            if state is not None and state.id in resting:
                continue
            reason, use = self._eligible(node, None if name in contested else state, name in gone, now)
            if reason:
                plan.unremovable[name] = reason
            elif state is not None:
                usable.append((use, node, state))
        # Those that were not needed before come first, so that the choice does not change without need.
        usable.sort(key=lambda entry: (entry[1].name not in self.since, entry[0], entry[1].name))
        self._simulate(usable, gone, plan, now)
        unneeded = {removable.node for removable in plan.unneeded}
        self.since = {name: self.since.get(name, now) for name in unneeded}
        self.plan = plan
        return plan

    def _eligible(
        self, node: ClusterNode, state: GroupState | None, going: bool, now: float
    ) -> tuple[str, float]:
        if state is None or state.error:
            return NOT_IN_GROUP, 0.0
        if going or node.deleting:
            return "CurrentlyBeingDeleted", 0.0
        if state.target <= state.group.minimum:
            return MINIMUM, 0.0
        if node.annotations.get(SCALE_DOWN_DISABLED) == "true":
            return DISABLED, 0.0
        if not node.ready and not self._rules.unready_enabled:
            return UNREADY_DISABLED, 0.0
        if node.name in self._rest:
            return RECENTLY, 0.0
        use = utilization(
            node,
            self._cluster.pods_on(node.name),
            ignores_daemons=self._rules.ignores_daemons or state.options.ignores_daemon_sets,
            ignores_mirrors=self._rules.ignores_mirrors,
            now=now,
        )
        if use is None:
            return UNEXPECTED, 0.0
        if use > state.options.utilization_threshold:
            return NOT_UNDERUTILIZED, use
        return "", use

    def _simulate(
        self, usable: list[tuple[float, ClusterNode, GroupState]], going: set[str], plan: Plan, now: float
    ) -> None:
        budgets = self._cluster.listers.all("poddisruptionbudgets")
        evictions, about = EvictionBudgets(budgets), Budgets(budgets)
        looked_at, new = 0, 0
        pool = max(int(self._rules.pool_ratio * len(self._cluster.nodes)), self._rules.pool_least)
        deadline = time.monotonic() + self._rules.simulation_seconds
        with Simulation(self._cluster) as simulation:
            homeless = [
                record for name in going for record in self._cluster.pods_on(name) if _leaves(record, now)
            ]
            unready = [name for name, node in self._cluster.nodes.items() if not node.ready]
            for name in {*going, *unready}:  # nothing can be moved there
                simulation.remove_node(name)
            booked = simulation.book()
            for record in homeless:  # their nodes go already: where they find room is needed
                simulation.settle([_moved(record.pod)])
            for use, node, state in usable:
                if node.name in booked:  # upstream sees pods there whose controller it does not know
                    plan.unremovable[node.name] = drain_rules.NOT_REPLICATED
                    continue
                moves, waits, reason = self._moves(node, about, now)
                guests = simulation.guests(node.name)
                if not reason and (moves or guests):
                    new += node.name not in self.since
                    if (
                        looked_at >= self._rules.non_empty_candidates > 0
                        or new > pool
                        or time.monotonic() > deadline
                    ):
                        plan.unremovable[node.name] = "NotTested"
                        continue
                    looked_at += 1
                    reason = self._move(simulation, node, moves, guests, evictions)
                if reason:
                    plan.unremovable[node.name] = reason
                    if reason != drain_rules.NOT_ENOUGH_PDB:
                        self._leave_alone(node.name, now)
                    continue
                if not moves and not guests:
                    simulation.remove_node(node.name)
                plan.unneeded.append(Removable(node.name, state.id, tuple(moves), use, waits))

    def _moves(self, node: ClusterNode, about: Budgets, now: float) -> tuple[list[PodRecord], bool, str]:
        """Return the pods that have to move and whether others are waited for, or why one keeps the node."""
        moves, waits = [], False
        for record in self._cluster.pods_on(node.name):
            verdict = drain_rules.verdict(
                record, self._rules.drain, replicas=self._replicas(record), has_budget=bool(about.of(record.pod)),
                age=now - rfc3339.parse(record.created) if record.created else 0.0, now=now,
            )  # fmt: skip
            if verdict.blocks:
                log.debug("%s stays: %s", node.name, verdict.text)
                return [], False, verdict.blocks
            waits |= verdict.waits
            if verdict.moves:
                moves.append(record)
        return moves, waits, ""

    def _replicas(self, record: PodRecord) -> int | None:
        kind = _REPLICATED.get(record.owner_kind) or _REPLICATED.get(record.owner_kind.rpartition("/")[2])
        if kind is None or not record.owner_name:
            return 0
        obj = self._cluster.listers.get(kind, f"{record.pod.namespace}/{record.owner_name}")
        return None if obj is None else (obj.get("spec") or {}).get("replicas", 1)

    def _move(
        self,
        simulation: Simulation,
        node: ClusterNode,
        moves: Sequence[PodRecord],
        guests: Sequence[Pod],
        evictions: EvictionBudgets,
    ) -> str:
        """Move pods elsewhere and take the node away; return why that cannot be, and leave all as it was then.

        ``guests`` are pods of other nodes that would be here by then.
        """
        mark = simulation.mark()
        for record in moves:
            guarded = not record.deleted and not record.ends
            if evictions.evict(record.pod, guarded=guarded, ready=record.ready) is not None:
                simulation.undo(mark)
                return drain_rules.NOT_ENOUGH_PDB
        simulation.remove_node(node.name)
        for record in moves:
            simulation.take_off(record.pod)
        for guest in guests:
            simulation.take_off(guest)
        again = [_moved(record.pod) for record in moves if not record.ends and not record.deleted]
        for pod in (*again, *map(_moved, guests)):
            if not simulation.settle([pod]):
                simulation.undo(mark)
                return NO_PLACE
        return ""

    # -- what may go now ---------------------------------------------------------------------------------

    def due(
        self, groups: Mapping[str, GroupState], going: Counter[str], now: float
    ) -> tuple[list[Removable], float]:
        """Return the nodes that were not needed for long enough and whose groups may shrink; and when the next is."""
        ready, next_time = [], float("inf")
        left = {
            name: state.target - state.group.minimum - going.get(name, 0) for name, state in groups.items()
        }
        cores, memory = self._cluster.totals(
            name
            for name, node in self._cluster.nodes.items()
            if not node.deleting and name not in self._going
        )
        for removable in self.plan.unneeded:
            node, state = self._cluster.nodes.get(removable.node), groups.get(removable.group)
            if node is None or state is None:
                continue
            options = state.options
            wait = options.unneeded_seconds if node.ready else options.unready_seconds
            moment = self.since[removable.node] + wait
            if moment > now:
                self.plan.unremovable[removable.node] = (
                    NOT_LONG_ENOUGH if node.ready else UNREADY_NOT_LONG_ENOUGH
                )
                next_time = min(next_time, moment)
            elif left[removable.group] <= 0:
                self.plan.unremovable[removable.node] = MINIMUM
            elif removable.waits:
                self.plan.unremovable[removable.node] = drain_rules.ON_COMPLETION
            else:
                own_cores, own_memory = self._cluster.totals([removable.node])
                if (
                    cores - own_cores < self._rules.least_cores
                    or memory - own_memory < self._rules.least_memory
                ):
                    self.plan.unremovable[removable.node] = RESOURCES
                    continue
                cores, memory = cores - own_cores, memory - own_memory
                left[removable.group] -= 1
                ready.append(removable)
        return ready, next_time

    def failed(self, name: str, now: float) -> None:
        """Leave a node alone for a while that could not be removed."""
        self._leave_alone(name, now)
        self.since.pop(name, None)

    def _leave_alone(self, name: str, now: float) -> None:
        self._rest[name] = (now + self._rules.recheck_seconds, self._pods(name))

    def _pods(self, name: str) -> frozenset[str]:
        return frozenset(record.pod.uid for record in self._cluster.pods_on(name))


def _moved(pod: Pod) -> Pod:
    """Return the pod that will be there instead of one that has to leave."""
    return Pod(pod.namespace, pod.name, f"{pod.uid}/moved", pod.shape)


def _leaves(record: PodRecord, now: float) -> bool:
    """Return whether a pod of a node that goes will need room elsewhere, and nothing is there yet in its place."""
    if record.daemon or record.mirror or record.ends or record.overdue(now):
        return False
    return not record.deleted or record.owner_kind == "apps/StatefulSet"


def chosen(
    removables: Sequence[Removable], going: int, draining: int, most: int, most_drained: int
) -> list[Removable]:
    """Return which nodes are removed now: empty ones in bulk, then those with pods to move, a few at a time."""
    result = [removable for removable in removables if removable.empty][: max(0, most - going)]
    rest = max(0, min(most - going - len(result), most_drained - draining))
    return result + [removable for removable in removables if not removable.empty][:rest]
