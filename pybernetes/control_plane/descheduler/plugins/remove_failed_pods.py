"""RemoveFailedPods: pods that have failed, for certain reasons or with certain exit codes."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT32,
    NAMESPACES,
    SELECTOR,
    STRINGS,
    UINT,
    Many,
    arguments,
    check_selection,
)
from pybernetes.control_plane.descheduler.plugin import (
    DESCHEDULE,
    Decisions,
    StrategyPlugin,
    evict_node_by_node,
)
from pybernetes.control_plane.descheduler.pod_records import HAS_FAILED, PodRecord
from pybernetes.control_plane.descheduler.view import View


class RemoveFailedPods(StrategyPlugin):
    """Pods are left alone for an hour unless something else is asked for."""

    name = "RemoveFailedPods"
    points = (DESCHEDULE,)
    arguments_type = arguments(
        "RemoveFailedPods", namespaces=NAMESPACES, labelSelector=SELECTOR, excludeOwnerKinds=STRINGS,
        minPodLifetimeSeconds=UINT, reasons=STRINGS, exitCodes=Many(INT32), includingInitContainers=BOOL,
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        return check_selection(arguments)

    @classmethod
    def complete(cls, arguments: Object) -> Object:
        return {"minPodLifetimeSeconds": 3600, **arguments}

    def decide(self, view: View) -> Decisions:
        table = view.table
        picked = view.evictable & (table.flags & HAS_FAILED != 0) & table.selected(self.arguments)
        least = self.arguments.get("minPodLifetimeSeconds")
        if least is not None:
            picked = picked & (np.floor(view.now - table.created) >= least)
        yield from evict_node_by_node(
            view,
            (
                [row for row in rows if self._matches(view.record(row)) and view.may_leave(row)]
                for _, rows in view.by_node(picked)
            ),
        )

    def _matches(self, record: PodRecord) -> bool:
        given = self.arguments
        sorts = [record.containers] + ([record.init] if given.get("includingInitContainers") else [])
        excluded = given.get("excludeOwnerKinds") or ()
        if any(owner.kind in excluded for owner in record.owners):
            return False
        reasons = given.get("reasons")
        if reasons:
            found = {record.reason}.union(
                *(sort.waiting for sort in sorts), *(sort.terminated for sort in sorts)
            ) - {""}
            if found.isdisjoint(reasons):
                return False
        codes = given.get("exitCodes")
        return not codes or any(code in codes for sort in sorts for code in sort.exit_codes)


PLUGIN = RemoveFailedPods
