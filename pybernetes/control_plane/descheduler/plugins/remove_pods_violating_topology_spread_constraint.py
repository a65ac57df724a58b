"""RemovePodsViolatingTopologySpreadConstraint: pods whose domains hold more than their spread constraints allow."""

from __future__ import annotations

import math

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    STRINGS,
    selecting_arguments,
)
from pybernetes.control_plane.descheduler.plugin import BALANCE, Decisions, Outcome, SelectingPlugin
from pybernetes.control_plane.descheduler.pod_records import HAS_PRIORITY, IS_DELETING
from pybernetes.control_plane.descheduler.pod_table import grouped
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.affinity_terms import SpreadConstraint
from pybernetes.scheduling.columns import Bools
from pybernetes.scheduling.plugins.node_affinity import matching
from pybernetes.scheduling.plugins.taint_toleration import turns_away
from pybernetes.scheduling.pods import Shape

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"


class RemovePodsViolatingTopologySpreadConstraint(SelectingPlugin):
    """Pods move, in thought, from the largest domains to the smallest until the skew is small enough."""

    name = "RemovePodsViolatingTopologySpreadConstraint"
    points = (BALANCE,)
    arguments_type = selecting_arguments(
        "RemovePodsViolatingTopologySpreadConstraint", constraints=STRINGS, topologyBalanceNodeFit=BOOL
    )

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        return super().check(arguments) + [
            f"constraint {constraint} is not one of map[{HARD}:{{}} {SOFT}:{{}}]"
            for constraint in arguments.get("constraints") or ()
            if constraint not in (HARD, SOFT)
        ]

    @classmethod
    def complete(cls, arguments: Object) -> Object:
        constraints = arguments.get("constraints") or [HARD]
        return {"topologyBalanceNodeFit": True, **arguments, "constraints": constraints}

    def decide(self, view: View) -> Decisions:
        table = view.table
        pods = view.on_nodes(self.selected(view) & table.running)
        picked: dict[int, None] = {}
        for constraint, shape in self._constraints(view, pods):
            picked.update(dict.fromkeys(self._balance(view, constraint, shape, pods)))
        full: set[int] = set()  # nodes whose limit is reached
        for row in picked:
            node = int(table.node[row])
            if node in full or not view.may_leave(row):
                continue
            outcome = yield row
            if outcome is Outcome.NODE_LIMIT:
                full.add(node)
            elif outcome is Outcome.TOTAL_LIMIT:
                return

    def _constraints(self, view: View, pods: Bools) -> list[tuple[SpreadConstraint, Shape]]:
        """Return the constraints of some pods that differ from one another, each with pods that have it.

        One whose key no node has is left out: there is nothing to spread over, and a pod may have thousands of them.
        """
        table, wanted = view.table, self.arguments["constraints"]
        keys = frozenset().union(*(node.labels for node in view.snapshot.nodes if node is not None))
        result: dict[tuple[object, ...], tuple[SpreadConstraint, Shape]] = {}
        for number in np.unique(table.shape[pods]).tolist():
            shape = table.shapes[number]
            for constraint in shape.spread:
                if constraint.topology_key in keys and (HARD if constraint.hard else SOFT) in wanted:
                    affinity = shape.node_affinity if constraint.honors_affinity else None
                    tolerations = shape.tolerations if constraint.honors_taints else None
                    key = (
                        shape.labels.namespace,
                        constraint.max_skew,
                        constraint.topology_key,
                        constraint.text,
                        constraint.honors_affinity,
                        affinity,
                        tolerations,
                    )
                    result.setdefault(key, (constraint, shape))
        return list(result.values())

    def _balance(self, view: View, constraint: SpreadConstraint, shape: Shape, pods: Bools) -> list[int]:
        """Return the pods that would have to move for one constraint to hold."""
        table, size, namespace = view.table, view.snapshot.size, shape.labels.namespace
        numbers = table.labels_like(
            constraint.selector,
            lambda labels: labels.namespace == namespace and constraint.selector.matches(labels.labels),
        )
        rows = table.with_labels(numbers)
        rows = rows[pods[rows] & (table.flags[rows] & IS_DELETING == 0)]
        codes = view.snapshot.label(constraint.topology_key).codes[:size]
        included = view.nodes & _included(view, constraint, shape)
        rows = rows[codes[table.node[rows]] != 0]
        domains = codes[table.node[rows]]
        values = np.unique(np.concatenate([codes[included & (codes != 0)], domains]))
        counts = np.bincount(domains, minlength=int(values.max()) + 1 if len(values) else 0)[values]
        if not len(values) or counts.max() - counts.min() <= constraint.max_skew:
            return []
        average = len(rows) / len(values)
        small = np.zeros(len(view.snapshot.label(constraint.topology_key).values), dtype=np.bool_)
        small[values[counts < average]] = True
        below = included & small[codes]
        known: dict[int, bool] = {}

        def fits(row: int) -> bool:
            if row not in known:
                known[row] = view.fit.elsewhere(view.record(row).pod, below)
            return known[row]

        groups = {code: group.tolist() for code, group in grouped(rows, domains)}
        sizes = sorted((groups.get(code, []) for code in values.tolist()), key=len)
        result: list[int] = []
        ready = [False] * len(sizes)
        low, high = 0, len(sizes) - 1
        while low < high:
            if len(sizes[high]) <= average:
                high -= 1
            skew = len(sizes[high]) - len(sizes[low])
            if skew <= constraint.max_skew:
                low += 1
                continue
            above, missing = math.ceil(len(sizes[high]) - average), math.ceil(average - len(sizes[low]))
            moving = min(above, missing, math.ceil((skew - constraint.max_skew) / 2))
            if moving <= 0:
                low += 1
                continue
            if not ready[high]:
                # Taken from the end: pods that fit where pods are missing, of these the ones that are free to be anywhere.
                sizes[high].sort(key=lambda row: (fits(row), *_importance(view, row)))
                ready[high] = True
            leaving = sizes[high][-moving:]
            del sizes[high][-moving:]
            sizes[low].extend(leaving)
            if self.arguments.get("topologyBalanceNodeFit", True):
                leaving = [row for row in leaving if fits(row)]
            result += leaving
        return result


def _importance(view: View, row: int) -> tuple[bool, int, int]:
    record = view.record(row)
    return record.pod.shape.node_affinity is None, record.flags & HAS_PRIORITY, record.pod.priority


def _included(view: View, constraint: SpreadConstraint, shape: Shape) -> Bools:
    """Return the nodes that a constraint counts."""
    snapshot = view.snapshot
    result = snapshot.valid[snapshot.all].copy()
    if constraint.honors_affinity and shape.node_affinity is not None:
        result &= matching(snapshot, shape.node_affinity, snapshot.all)
    if constraint.honors_taints:
        away = snapshot.taints.lookup(lambda taints: turns_away(taints, shape.tolerations), np.bool_)
        result &= ~away[snapshot.taints.codes[snapshot.all]]
    return result


PLUGIN = RemovePodsViolatingTopologySpreadConstraint
