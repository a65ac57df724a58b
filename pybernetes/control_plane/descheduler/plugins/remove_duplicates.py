"""RemoveDuplicates: pods of one owner that share a node while there are other nodes for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pybernetes.control_plane.descheduler.argument_types import (
    NAMESPACES,
    STRINGS,
    arguments,
)
from pybernetes.control_plane.descheduler.plugin import (
    BALANCE,
    Decisions,
    SelectingPlugin,
    evict_node_by_node,
)
from pybernetes.control_plane.descheduler.view import View
from pybernetes.scheduling.columns import Ints
from pybernetes.scheduling.pods import Shape

# Namespace, kind and name of an owner, and the images of a pod: pods with the same are each other's duplicates.
OwnerKey = tuple[str, str, str, tuple[str, ...]]


class RemoveDuplicates(SelectingPlugin):
    """Each node keeps its share: the number of pods divided by the nodes that they can be on, rounded up."""

    name = "RemoveDuplicates"
    points = (BALANCE,)
    arguments_type = arguments("RemoveDuplicates", namespaces=NAMESPACES, excludeOwnerKinds=STRINGS)

    def decide(self, view: View) -> Decisions:
        yield from evict_node_by_node(self._surplus(view))

    def _surplus(self, view: View) -> Iterator[Iterator[int]]:
        """Yield the pods that are more than their node's share, owner by owner and node by node."""
        totals: dict[OwnerKey, int] = {}
        duplicates: dict[OwnerKey, dict[int, list[int]]] = {}
        for keys, rows in self._groups(view):
            doubled = _doubled(view, rows)
            for key in keys:
                totals[key] = totals.get(key, 0) + len(rows)
                for node, more in doubled.items():
                    duplicates.setdefault(key, {}).setdefault(node, []).extend(more)
        known: dict[frozenset[Shape], int] = {}  # a pod may have very many owners
        for key, nodes in duplicates.items():
            shapes = frozenset(view.record(row).pod.shape for rows in nodes.values() for row in rows)
            targets = known.get(shapes)
            if targets is None:
                targets = known[shapes] = _targets(view, shapes)
            if targets < 2:
                continue
            share = -(-totals[key] // targets)
            for node in sorted(nodes, key=view.snapshot.names.__getitem__):
                # A pod that had another owner, too, may be gone already.
                yield (row for row in nodes[node][share - 1 :] if view.table.alive[row])

    def _groups(self, view: View) -> list[tuple[list[OwnerKey], Ints]]:
        """Return the pods that are each other's duplicates, and the keys that they count under."""
        table, excluded = view.table, set(self.arguments.get("excludeOwnerKinds") or ())
        picked = view.on_nodes(self.selected(view) & table.running)
        codes: dict[tuple[object, ...], int] = {}
        numbers = np.full(table.size, -1, dtype=np.int64)
        for row in view.all_may_leave(np.flatnonzero(picked)).tolist():
            record = table.records[row]
            if record.owners:
                key = record.pod.namespace, record.owners, record.images
                numbers[row] = codes.setdefault(key, len(codes))
        result = []
        for _, rows in table.by_code(numbers >= 0, numbers):
            record = table.records[int(rows[0])]
            if not excluded.isdisjoint(owner.kind for owner in record.owners):
                continue
            namespace, images = record.pod.namespace, record.images
            keys = [(namespace, owner.kind, owner.name, images) for owner in record.owners]
            result.append((keys, rows))
        return result


def _doubled(view: View, rows: Ints) -> dict[int, list[int]]:
    """Return by node all but the first pod there."""
    return {node: more[1:] for node, more in view.table.on_node(rows).items() if len(more) > 1}


def _targets(view: View, shapes: Iterable[Shape]) -> int:
    """Return how many nodes pods of some shapes can be on; the only node of a pod is no target."""
    result = np.zeros(view.snapshot.size, dtype=np.bool_)
    for shape in shapes:
        admitted = view.fit.admitted(shape) & view.nodes
        if np.count_nonzero(admitted) > 1:
            result |= admitted
    return int(np.count_nonzero(result))


PLUGIN = RemoveDuplicates
