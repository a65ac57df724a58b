"""RemovePodsViolatingNodeTaints: pods on nodes with taints that they do not tolerate."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
    BOOL,
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
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.affinity_terms import NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint, is_tolerated


class RemovePodsViolatingNodeTaints(SelectingPlugin):
    """Taints of the effect NoSchedule count, those of PreferNoSchedule if that is asked for."""

    name = "RemovePodsViolatingNodeTaints"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments(
        "RemovePodsViolatingNodeTaints", includePreferNoSchedule=BOOL, excludedTaints=STRINGS, includedTaints=STRINGS
    )  # fmt: skip

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        problems = super().check(arguments)
        if arguments.get("excludedTaints") and arguments.get("includedTaints"):
            problems.append("either includedTaints or excludedTaints can be set, but not both")
        return problems

    def _counts(self, taint: Taint) -> bool:
        given = self.arguments
        effects = [NO_SCHEDULE] + ([PREFER_NO_SCHEDULE] if given.get("includePreferNoSchedule") else [])
        if taint.effect not in effects:
            return False
        names = {taint.key, f"{taint.key}={taint.value}"} if taint.value else {taint.key}
        if not names.isdisjoint(given.get("excludedTaints") or ()):
            return False
        included = given.get("includedTaints")
        return included is None or not names.isdisjoint(included)

    def decide(self, view: View) -> Decisions:
        table, taints = view.table, view.snapshot.taints
        # Nodes with the same taints and pods with the same tolerations are looked at once.
        counting = [tuple(taint for taint in value if self._counts(taint)) for value in taints.values]
        tainted = np.array([bool(value) for value in counting])
        picked = view.on_nodes(self.selected(view) & table.running)
        rows = np.flatnonzero(picked)
        codes = taints.codes[table.node[rows]]
        rows, codes = rows[tainted[codes]], codes[tainted[codes]]
        known: dict[tuple[int, int], bool] = {}
        unwelcome = np.zeros(table.size, dtype=np.bool_)
        for row, code, shape in zip(rows.tolist(), codes.tolist(), table.shape[rows].tolist(), strict=True):
            away = known.get((code, shape))
            if away is None:
                tolerations = table.shapes[shape].tolerations
                away = known[code, shape] = any(
                    not is_tolerated(taint, tolerations) for taint in counting[code]
                )
            unwelcome[row] = away
        yield from evict_node_by_node(leaving_by_node(view, unwelcome))


PLUGIN = RemovePodsViolatingNodeTaints
