"""What is known of the cluster: nodes and pods in the scheduler's columns, and the objects that decisions look up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.pod_records import HAS_ENDED, PodRecord, RecordReader
from pybernetes.scheduling.nodes import Node, NodeReader
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot


class ClusterNode:
    """A node, and whether it is ready."""

    __slots__ = ("node", "ready")

    def __init__(self, node: Node, ready: bool) -> None:
        self.node, self.ready = node, ready


class Cluster:
    """Kept up to date by ``set_pod``, ``set_node`` and ``set_object``; it stands still while a pass looks at it."""

    def __init__(self, conditions: bool = False) -> None:
        self.resources = Resources()
        self._nodes = NodeReader(self.resources)
        self._records = RecordReader(self.resources, conditions)
        self.snapshot = Snapshot(self.resources)
        self.nodes: dict[str, ClusterNode] = {}
        self.records: dict[str, PodRecord] = {}  # by namespace/name
        self.objects: dict[str, dict[str, Object]] = {}  # by kind (the plural), then by key
        self.changes = 0  # of the objects
        self._waiting: list[Callable[[], None]] | None = None

    def read_pod(self, obj: Object) -> PodRecord:
        """Return what is kept of a pod."""
        return self._records.read(obj)

    def read_node(self, obj: Object) -> ClusterNode:
        """Return what is kept of a node."""
        return ClusterNode(self._nodes.read(obj), is_ready(obj))

    # -- changes -----------------------------------------------------------------------------------------

    def set_pod(self, key: str, record: PodRecord | None) -> None:
        """Store a pod, or remove it (None)."""
        if self._waiting is not None:
            self._waiting.append(lambda: self.set_pod(key, record))
            return
        old = self.records.get(key)
        if old is not None and counts(old):
            self.snapshot.remove_pod(old.pod)
        if record is None:
            self.records.pop(key, None)
            return
        self.records[key] = record
        if counts(record):
            self.snapshot.add_pod(record.pod)

    def set_node(self, name: str, node: ClusterNode | None) -> None:
        """Store a node, or remove it (None)."""
        if self._waiting is not None:
            self._waiting.append(lambda: self.set_node(name, node))
        elif node is None:
            self.nodes.pop(name, None)
            self.snapshot.remove_node(name)
        else:
            self.nodes[name] = node
            self.snapshot.set_node(node.node)

    def set_object(self, kind: str, key: str, obj: Object | None) -> None:
        """Store another object that decisions look up, or remove it (None)."""
        if self._waiting is not None:
            self._waiting.append(lambda: self.set_object(kind, key, obj))
            return
        self.changes += 1
        if obj is None:
            self.objects.get(kind, {}).pop(key, None)
        else:
            self.objects.setdefault(kind, {})[key] = obj

    # -- a pass ------------------------------------------------------------------------------------------

    @contextmanager
    def still(self) -> Iterator[None]:
        """Let nothing change: what happens meanwhile is noted and comes to pass afterwards."""
        self._waiting = []
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            for change in waiting:
                change()

    def namespace_labels(self, namespace: str) -> dict[str, str]:
        """Return the labels of a namespace."""
        obj = self.objects.get("namespaces", {}).get(namespace) or {}
        labels: dict[str, str] = (obj.get("metadata") or {}).get("labels") or {}
        return labels


def counts(record: PodRecord) -> bool:
    """Return whether a pod takes something from a node."""
    return bool(record.pod.node) and not record.flags & HAS_ENDED


def is_ready(node: Object) -> bool:
    """Return whether a node does not say that it is not ready."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return not any(
        condition.get("type") == "Ready" and condition.get("status") != "True" for condition in conditions
    )
