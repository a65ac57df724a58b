"""RemovePodsHavingTooManyRestarts: pods whose containers were restarted too often."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT32,
    NAMESPACES,
    SELECTOR,
    STRINGS,
    arguments,
    check_selection,
)
from pybernetes.control_plane.descheduler.plugin import (
    DESCHEDULE,
    Decisions,
    StrategyPlugin,
    evict_node_by_node,
)
from pybernetes.control_plane.descheduler.pod_records import PodRecord
from pybernetes.control_plane.descheduler.view import View

STATES = ("CrashLoopBackOff", "Running")


class RemovePodsHavingTooManyRestarts(StrategyPlugin):
    """On each node the pods with the most restarts go first."""

    name = "RemovePodsHavingTooManyRestarts"
    points = (DESCHEDULE,)
    arguments_type = arguments(
        "RemovePodsHavingTooManyRestarts", namespaces=NAMESPACES, labelSelector=SELECTOR, podRestartThreshold=INT32,
        includingInitContainers=BOOL, states=STRINGS,
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problems = check_selection(arguments)
        if arguments.get("podRestartThreshold", 0) < 1:
            problems.append("invalid PodsHavingTooManyRestarts threshold")
        if not set(STATES).issuperset(arguments.get("states") or ()):
            problems.append(f"states must be one of [{' '.join(STATES)}]")
        return problems

    def decide(self, view: View) -> Decisions:
        table, least = view.table, self.arguments["podRestartThreshold"]
        restarts = np.fromiter(map(self._restarts, table.records), np.int64, table.size)
        picked = view.evictable & (restarts >= least) & table.selected(self.arguments)
        yield from evict_node_by_node(
            view,
            (
                sorted(
                    (row for row in rows if self._matches(view.record(row)) and view.may_leave(row)),
                    key=lambda row: -int(restarts[row]),
                )
                for _, rows in view.by_node(picked)
            ),
        )

    def _restarts(self, record: PodRecord) -> int:
        more = record.init.restarts if self.arguments.get("includingInitContainers") else 0
        return record.containers.restarts + more

    def _matches(self, record: PodRecord) -> bool:
        states = self.arguments.get("states")
        if not states or record.phase in states or not set(record.containers.waiting).isdisjoint(states):
            return True
        init = bool(self.arguments.get("includingInitContainers"))
        return init and not set(record.init.waiting).isdisjoint(states)


PLUGIN = RemovePodsHavingTooManyRestarts
