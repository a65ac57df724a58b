"""What can happen in a cluster, and which plugins are interested in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.pods import Pod


class Action:
    """What happened to an object, as bits: plain integers, because every event is tested for them."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_POD_LABEL = 32
    UPDATE_POD_SCALE_DOWN = 64
    UPDATE_POD_SCALE_UP = 128
    UPDATE_POD_TOLERATION = 256
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 512
    UPDATE_OTHER = 1024
    UPDATE = 2044  # any of those that change an object


_NAMES = {
    Action.ADD: "Add",
    Action.DELETE: "Delete",
    Action.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    Action.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    Action.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    Action.UPDATE_POD_LABEL: "UpdatePodLabel",
    Action.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    Action.UPDATE_POD_SCALE_UP: "UpdatePodScaleUp",
    Action.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    Action.UPDATE_OTHER: "Update",
    Action.UPDATE: "Update",
}

ASSIGNED_POD, UNSCHEDULED_POD, TARGET_POD = "AssignedPod", "UnscheduledPod", "TargetPod"
NODE, CLAIM, VOLUME = "Node", "PersistentVolumeClaim", "PersistentVolume"
STORAGE_CLASS, CSI_NODE, CSI_DRIVER, CSI_CAPACITY = (
    "storage.k8s.io/StorageClass",
    "storage.k8s.io/CSINode",
    "storage.k8s.io/CSIDriver",
    "storage.k8s.io/CSIStorageCapacity",
)


class Event(NamedTuple):
    """Something that happened: to which kind, what, and the object before and after."""

    resource: str
    action: int
    old: Any = None
    new: Any = None

    @property
    def label(self) -> str:
        """The name that metrics use."""
        return f"{self.resource}{_NAMES.get(self.action, 'Update')}"


Hint = Callable[[Pod, Any, Any], bool]


class Interest(NamedTuple):
    """Events that a plugin is interested in; the hint says whether one may make a pod fit."""

    resource: str
    actions: int
    hint: Hint | None = None


def pod_actions(old: Pod, new: Pod) -> Iterator[int]:
    """Return what changed about a pod, as far as it can matter."""
    changed = False
    if old.shape.labels is not new.shape.labels:
        changed = True
        yield Action.UPDATE_POD_LABEL
    if old.requests != new.requests:
        before, after = dict(old.requests.amounts), dict(new.requests.amounts)
        if any(amount > after.get(number, 0) for number, amount in before.items()):
            changed = True
            yield Action.UPDATE_POD_SCALE_DOWN
        if any(amount > before.get(number, 0) for number, amount in after.items()):
            changed = True
            yield Action.UPDATE_POD_SCALE_UP
    if old.gates and not new.gates:
        changed = True
        yield Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    if len(old.shape.tolerations) != len(new.shape.tolerations):
        changed = True
        yield Action.UPDATE_POD_TOLERATION
    if not changed:
        yield Action.UPDATE_OTHER


def node_actions(old: Node, new: Node) -> Iterator[int]:
    """Return what changed about a node, as far as it can matter."""
    if old.unschedulable and not new.unschedulable:
        yield Action.UPDATE_NODE_TAINT
    if old.allocatable != new.allocatable or old.allowed_pods != new.allowed_pods:
        yield Action.UPDATE_NODE_ALLOCATABLE
    if old.labels != new.labels:
        yield Action.UPDATE_NODE_LABEL
    if old.taints != new.taints:
        yield Action.UPDATE_NODE_TAINT
