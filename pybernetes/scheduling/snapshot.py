"""The state of all nodes in columns, changed in place as nodes and pods come, change and go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pybernetes.scheduling.affinity_terms import Taint
from pybernetes.scheduling.columns import Bools, Ints, Journal, LabelColumn, LabelColumns, ValueColumn, grown
from pybernetes.scheduling.counters import Counter, Counters
from pybernetes.scheduling.loads import Load
from pybernetes.scheduling.nodes import NO_IMAGES, ImageSet, Node
from pybernetes.scheduling.pods import Labels, Pod
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.term_tallies import Summed, TermTallies

ANY_ADDRESS = "0.0.0.0"
MAX_BELOW = 8  # priorities that are kept count of for preemption


class Below(Load):
    """What the pods below a priority take: what preemption could free."""

    def __init__(self, priority: int, capacity: int) -> None:
        super().__init__(capacity)
        self.priority = priority


class Snapshot:
    """One row per node. A row without a node may hold pods whose node is not known (yet, or any more)."""

    def __init__(self, resources: Resources, capacity: int = 64) -> None:
        self.resources = resources
        self.rows: dict[str, int] = {}
        self.names: list[str] = []
        self.nodes: list[Node | None] = []
        self.pods: list[dict[str, Pod]] = []  # of each row by uid
        self.node_count = 0
        self._free: list[int] = []
        self._capacity = capacity
        depth = max(8, len(resources))
        # Resources one above the other: each is a column that lies together in memory.
        self.allocatable: Ints = np.zeros((depth, capacity), dtype=np.int64)
        self.requested: Ints = np.zeros((depth, capacity), dtype=np.int64)
        self.counted: Ints = np.zeros((2, capacity), dtype=np.int64)  # CPU and memory with defaults
        self.pod_count: Ints = np.zeros(capacity, dtype=np.int64)
        self.allowed_pods: Ints = np.zeros(capacity, dtype=np.int64)
        self.valid: Bools = np.zeros(capacity, dtype=np.bool_)
        self.unschedulable: Bools = np.zeros(capacity, dtype=np.bool_)
        self.taints: ValueColumn[tuple[Taint, ...]] = ValueColumn(capacity, ())
        self.images: ValueColumn[ImageSet] = ValueColumn(capacity, NO_IMAGES)
        self.image_version = 0  # changes with the images of any node and with the number of nodes
        self.labels = LabelColumns(capacity)
        self.counters = Counters(capacity)
        self.terms = TermTallies(capacity)
        # Ports of nodes in use: by protocol and port, then by address, the number of pods.
        self.ports: dict[tuple[str, int], dict[str, Ints]] = {}
        self.claims: dict[str, int] = {}  # how many pods on nodes use a claim, by namespace/name
        self.disks: dict[str, dict[int, int]] = {}  # rows of pods with disks of a kind, and how many
        self._below: dict[int, Below] = {}  # by priority, for those that were asked for of late
        self.changes = Journal()  # rows where anything changed
        self.places = Journal()  # rows where more changed than pods and amounts

    @property
    def size(self) -> int:
        """How many rows are in use, with or without a node."""
        return len(self.names)

    @property
    def weight(self) -> int:
        """How many bytes the labels of a new pod have to be held against."""
        return self.terms.weight + self.counters.weight

    @property
    def all(self) -> slice:
        """Every row."""
        return slice(0, len(self.names))

    # -- nodes -------------------------------------------------------------------------------------------

    def set_node(self, node: Node) -> Node | None:
        """Add or update a node; return what it was before."""
        row = self.rows.get(node.name)
        if row is None:
            row = self._new_row(node.name)
        before = self.nodes[row]
        if before is not None and node.allocatable == before.allocatable and node.same_place(before):
            if node.allowed_pods == before.allowed_pods:
                return before
        self.nodes[row] = node
        self.deepen()
        self.allocatable[:, row] = 0
        for number, amount in node.allocatable:
            self.allocatable[number, row] = amount
        self.allowed_pods[row] = node.allowed_pods
        self.changes.note(row)
        if before is None or not node.same_place(before):
            self._place(row, node, before)
        return before

    def _place(self, row: int, node: Node, before: Node | None) -> None:
        if before is None:
            self.node_count += 1
            self.valid[row] = True
        if before is None or before.images is not node.images:
            self.images.set(row, node.images)
            self.image_version += 1
        self.taints.set(row, node.taints)
        self.unschedulable[row] = node.unschedulable
        self.labels.set(row, node.labels)
        self.places.note(row)

    def remove_node(self, name: str) -> Node | None:
        """Remove a node; its pods stay until they are removed too."""
        row = self.rows.get(name)
        node = self.nodes[row] if row is not None else None
        if row is None or node is None:
            return None
        self.nodes[row] = None
        self.node_count -= 1
        self.valid[row] = False
        self.images.set(row, NO_IMAGES)
        self.image_version += 1
        self.taints.set(row, ())
        self.unschedulable[row] = False
        self.labels.set(row, {})
        self.allocatable[:, row] = 0
        self.allowed_pods[row] = 0
        self.changes.note(row)
        self.places.note(row)
        self._release(row)
        return node

    def node(self, name: str) -> Node | None:
        """Return a node by name."""
        row = self.rows.get(name)
        return None if row is None else self.nodes[row]

    # -- pods --------------------------------------------------------------------------------------------

    def add_pod(self, pod: Pod) -> None:
        """Put a pod onto the node that it names."""
        row = self.rows.get(pod.node)
        if row is None:
            row = self._new_row(pod.node)
        self.pods[row][pod.uid] = pod
        self._count(pod, row, 1)

    def remove_pod(self, pod: Pod) -> None:
        """Take a pod off its node; it must be the very object that was put there."""
        row = self.rows[pod.node]
        del self.pods[row][pod.uid]
        self._count(pod, row, -1)
        if not self.pods[row]:
            self._release(row)

    def replace_pod(self, old: Pod, new: Pod) -> None:
        """Update a pod; most updates change nothing that is counted."""
        mine, other = old.shape, new.shape
        same = mine is other or (
            mine.affinity is other.affinity and mine.ports == other.ports and mine.volumes == other.volumes
        )
        if not (
            same and old.node == new.node and old.requests == new.requests and old.priority == new.priority
        ):
            self.remove_pod(self.pods[self.rows[old.node]][old.uid])
            self.add_pod(new)
            return
        row = self.rows[new.node]
        if mine.labels is not other.labels or old.deleting != new.deleting:
            self.counters.count(old, row, -1)
            self.counters.count(new, row, 1)
        if old.deleting != new.deleting or old.started != new.started:
            self.changes.note(row)  # it matters to who would be evicted
        self.pods[row][new.uid] = new

    def _count(self, pod: Pod, row: int, change: int) -> None:
        requests = pod.requests
        self.deepen()
        requested, counted = self.requested, self.counted
        for number, amount in requests.amounts:
            requested[number, row] += change * amount
        counted[0, row] += change * requests.cpu
        counted[1, row] += change * requests.memory
        self.pod_count[row] += change
        self.counters.count(pod, row, change)
        for below in self._below.values():
            if pod.priority < below.priority:
                below.count(pod, row, change)
        shape = pod.shape
        if shape.affinity is not None:
            self.terms.count(pod, row, change)
        for address, protocol, port in shape.ports:
            self._port(protocol, port, address)[row] += change
        if shape.volumes is not None:
            self._count_volumes(pod, row, change)
        self.changes.note(row)

    def _count_volumes(self, pod: Pod, row: int, change: int) -> None:
        volumes = pod.shape.volumes
        assert volumes is not None
        for name, ephemeral in volumes.claims:
            if not ephemeral:
                _bump(self.claims, f"{pod.namespace}/{name}", change)
        for kind in {disk[0] for disk in volumes.disks}:
            _bump(self.disks.setdefault(kind, {}), row, change)

    def _port(self, protocol: str, port: int, address: str) -> Ints:
        addresses = self.ports.setdefault((protocol, port), {})
        column = addresses.get(address)
        if column is None:
            column = addresses[address] = np.zeros(self._capacity, dtype=np.int16)
        return column

    # -- what plugins ask for ----------------------------------------------------------------------------

    def label(self, key: str) -> LabelColumn:
        """Return the column of a node label."""
        return self.labels.get(
            key, ((row, node.labels) for row, node in enumerate(self.nodes) if node is not None)
        )

    def sums(self, tally: Summed, key: str) -> tuple[LabelColumn, Ints]:
        """Return a label's column, and a count summed up by its values."""
        label = self.label(key)
        return label, tally.sums(label, self.places.position)

    def counter(
        self, key: Any, matches: Callable[[Labels], bool], counts_deleting: bool = True, weight: int = 0
    ) -> Counter:
        """Return the counter of the pods whose labels a function selects; equal keys stand for the same function.

        ``weight`` tells how many bytes the labels are asked for in.
        """
        return self.counters.get(key, matches, counts_deleting, self.placed, weight)

    def below(self, priority: int) -> Below:
        """Return what the pods below a priority take."""
        below = self._below.pop(priority, None)
        if below is None:
            if len(self._below) >= MAX_BELOW:
                del self._below[next(iter(self._below))]
            below = Below(priority, self._capacity)
            for row, pod in self.placed():
                if pod.priority < priority:
                    below.count(pod, row, 1)
        self._below[priority] = below  # the last one is the latest
        return below

    def placed(self) -> Iterator[tuple[int, Pod]]:
        """Yield every pod on a node with its row."""
        for row, pods in enumerate(self.pods):
            for pod in pods.values():
                yield row, pod

    # -- rows --------------------------------------------------------------------------------------------

    def _new_row(self, name: str) -> int:
        if self._free:
            row = self._free.pop()
            self.names[row] = name
        else:
            row = len(self.names)
            self.names.append(name)
            self.nodes.append(None)
            self.pods.append({})
            if row == self._capacity:
                self._grow()
        self.rows[name] = row
        return row

    def _release(self, row: int) -> None:
        """Free a row for reuse once it has neither node nor pods."""
        if self.nodes[row] is None and not self.pods[row]:
            del self.rows[self.names[row]]
            self.names[row] = ""
            self._free.append(row)

    def _grow(self) -> None:
        capacity = self._capacity = self._capacity * 2
        for name in (
            "allocatable",
            "requested",
            "counted",
            "pod_count",
            "allowed_pods",
            "valid",
            "unschedulable",
        ):
            setattr(self, name, grown(getattr(self, name), capacity))
        for column in (self.taints, self.images):
            column.codes = grown(column.codes, capacity)
        for part in (self.labels, self.counters, self.terms):
            part.grow(capacity)
        for below in self._below.values():
            below.grow(capacity)
        for addresses in self.ports.values():
            for address, used in addresses.items():
                addresses[address] = grown(used, capacity)

    def deepen(self) -> None:
        """Make room for resources that nobody spoke of before."""
        if len(self.resources) <= len(self.allocatable):
            return
        depth = len(self.resources) * 2
        for name in ("allocatable", "requested"):
            old = getattr(self, name)
            new = np.zeros((depth, self._capacity), dtype=np.int64)
            new[: len(old)] = old
            setattr(self, name, new)


def _bump(counts: dict[Any, int], key: Any, change: int) -> None:
    left = counts.get(key, 0) + change
    if left:
        counts[key] = left
    else:
        counts.pop(key, None)
