"""RemoveFailedPods: pods that have failed, for certain reasons or with certain exit codes."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
    INT32,
    STRINGS,
    UINT,
    Many,
    selecting_arguments,
)
from pybernetes.control_plane.descheduler.plugin import (
    DESCHEDULE,
    Decisions,
    SelectingPlugin,
    evict_node_by_node,
    leaving_by_node,
)
from pybernetes.control_plane.descheduler.pod_records import (
    HAS_FAILED,
    PodRecord,
    has_exited_with,
    reasons_of,
)
from pybernetes.control_plane.descheduler.view import View


class RemoveFailedPods(SelectingPlugin):
    """Pods are left alone for an hour unless something else is asked for."""

    name = "RemoveFailedPods"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments(
        "RemoveFailedPods", excludeOwnerKinds=STRINGS, minPodLifetimeSeconds=UINT, reasons=STRINGS,
        exitCodes=Many(INT32), includingInitContainers=BOOL,
    )  # fmt: skip

    @classmethod
    def complete(cls, arguments: Object) -> Object:
        return {"minPodLifetimeSeconds": 3600, **arguments}

    def decide(self, view: View) -> Decisions:
        picked = self.selected(view) & (view.table.flags & HAS_FAILED != 0)
        least = self.arguments.get("minPodLifetimeSeconds")
        if least is not None:
            picked &= view.ages >= least
        yield from evict_node_by_node(
            leaving_by_node(view, picked, lambda row: self._matches(view.record(row)))
        )

    def _matches(self, record: PodRecord) -> bool:
        given, sorts = self.arguments, record.sorts(self.arguments)
        excluded = given.get("excludeOwnerKinds") or ()
        if any(owner.kind in excluded for owner in record.owners):
            return False
        reasons = given.get("reasons")
        if reasons:
            known = reasons_of(sorts) | {record.reason}
            if (known - {""}).isdisjoint(reasons):
                return False
        codes = given.get("exitCodes")
        return not codes or has_exited_with(codes, sorts)


PLUGIN = RemoveFailedPods
