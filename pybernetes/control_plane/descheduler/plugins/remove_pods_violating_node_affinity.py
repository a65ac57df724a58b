"""RemovePodsViolatingNodeAffinity: pods on nodes that their node affinity no longer allows, or likes less than others."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.argument_types import (
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
from pybernetes.scheduling.affinity_terms import NodeAffinity
from pybernetes.scheduling.columns import Bools
from pybernetes.scheduling.plugins.node_affinity import matching, matching_term

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class RemovePodsViolatingNodeAffinity(SelectingPlugin):
    """Pods go only if there is a node that takes them."""

    name = "RemovePodsViolatingNodeAffinity"
    points = (DESCHEDULE,)
    arguments_type = selecting_arguments("RemovePodsViolatingNodeAffinity", nodeAffinityType=STRINGS)

    @classmethod
    def check(cls, arguments: Object) -> list[str]:
        missing = [] if arguments.get("nodeAffinityType") else ["nodeAffinityType needs to be set"]
        return missing + super().check(arguments)

    def decide(self, view: View) -> Decisions:
        for sort in self.arguments.get("nodeAffinityType") or ():
            if sort in (REQUIRED, PREFERRED):
                picked = self._misplaced(view, sort) & self.selected(view)
                yield from evict_node_by_node(
                    leaving_by_node(
                        view, picked, lambda row: view.fit.anywhere(view.record(row).pod, view.nodes)
                    )
                )

    def _misplaced(self, view: View, sort: str) -> Bools:
        """Return the pods that are on the wrong nodes, or on the less preferred ones."""
        table, result = view.table, np.zeros(view.table.size, dtype=np.bool_)
        nodes_of = _not_allowed if sort == REQUIRED else _less_preferred
        known: dict[NodeAffinity, Bools | None] = {}
        pods = view.on_nodes(table.running & table.by_shape(lambda shape: shape.node_affinity is not None))
        for number, rows in table.by_code(pods, table.shape):
            affinity = table.shapes[number].node_affinity
            assert affinity is not None
            if affinity not in known:
                known[affinity] = nodes_of(view, affinity)
            wrong = known[affinity]
            if wrong is not None:
                result[rows] = wrong[table.node[rows]]
        return result


def _not_allowed(view: View, affinity: NodeAffinity) -> Bools | None:
    """Return the nodes that a required affinity does not allow; None if nothing is required."""
    if affinity.required is None:
        return None
    return ~matching(view.snapshot, affinity, view.snapshot.all)


def _less_preferred(view: View, affinity: NodeAffinity) -> Bools | None:
    """Return the nodes that are preferred less than the best of them; None if nothing is preferred."""
    if not affinity.preferred:
        return None
    weights = np.zeros(view.snapshot.size, dtype=np.int64)
    for weight, term in affinity.preferred:
        weights += weight * matching_term(view.snapshot, term, view.snapshot.all)
    best = weights[view.nodes].max() if view.nodes.any() else 0
    return np.asarray(weights < best)


PLUGIN = RemovePodsViolatingNodeAffinity
