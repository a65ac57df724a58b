"""RemovePodsHavingTooManyRestarts: pods whose containers were restarted too often."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT32,
    STRINGS,
    selecting_arguments,
)
from pybernetes.control_plane.descheduler.plugin import (
    DESCHEDULE,
    Decisions,
    SelectingPlugin,
    evict_node_by_node,
    leaving_by_node,
)
from pybernetes.control_plane.descheduler.pod_records import PodRecord
from pybernetes.control_plane.descheduler.view import View

STATES = ("CrashLoopBackOff", "Running")


class RemovePodsHavingTooManyRestarts(SelectingPlugin):
    """On each node the pods with the most restarts go first."""

    name = "RemovePodsHavingTooManyRestarts"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments(
        "RemovePodsHavingTooManyRestarts", podRestartThreshold=INT32, includingInitContainers=BOOL, states=STRINGS
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problems = super().check(arguments)
        if arguments.get("podRestartThreshold", 0) < 1:
            problems.append("invalid PodsHavingTooManyRestarts threshold")
        if not set(STATES).issuperset(arguments.get("states") or ()):
            problems.append(f"states must be one of [{' '.join(STATES)}]")
        return problems

    def decide(self, view: View) -> Decisions:
        table, least = view.table, self.arguments["podRestartThreshold"]
        init = bool(self.arguments.get("includingInitContainers"))
        counts = (
            record.containers.restarts + (record.init.restarts if init else 0) for record in table.records
        )
        restarts = np.fromiter(counts, np.int64, table.size)
        yield from evict_node_by_node(
            leaving_by_node(
                view,
                self.selected(view) & (restarts >= least),
                lambda row: self._matches(view.record(row)),
                order=lambda row: -int(restarts[row]),
            )
        )

    def _matches(self, record: PodRecord) -> bool:
        states = self.arguments.get("states")
        if not states or record.phase in states:
            return True
        return any(reason in states for sort in record.sorts(self.arguments) for reason in sort.waiting)


PLUGIN = RemovePodsHavingTooManyRestarts
