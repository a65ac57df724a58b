"""What pods ask of each node, kept as pods come and go: numbers only, so that a page of all nodes needs no look at the pods."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object

POD, NODE = "pods", "nodes"
_ENDED = ("Succeeded", "Failed")
_LEADING = "node-role.kubernetes.io/"
# The group that a node was made for, in the words of those who make nodes.
_GROUPS = (
    "pybernetes.dev/node-group", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool", "kops.k8s.io/instancegroup",
)  # fmt: skip
_ZONE = "topology.kubernetes.io/zone"


class Load(NamedTuple):
    """What one pod, or all pods of a node, ask for and may use at most: thousandths of CPU, bytes."""

    pods: int = 0
    cpu: int = 0
    memory: int = 0
    cpu_limit: int = 0
    memory_limit: int = 0

    def plus(self, other: Load, sign: int = 1) -> Load:
        """Return the sum."""
        return Load(*(one + sign * two for one, two in zip(self, other, strict=True)))


def load_of(pod: Object) -> tuple[str, Load] | None:
    """Return the node of a pod and what the pod asks of it; None if it is nowhere, or has ended."""
    try:
        node = pod["spec"].get("nodeName", "")
        if not node or pod.get("status", {}).get("phase") in _ENDED:
            return None
        requests, limits = resource_totals.requests(pod), resource_totals.limits(pod)
        return node, Load(
            1, quantity.milli(requests.get("cpu", 0)), quantity.integer(requests.get("memory", 0)),
            quantity.milli(limits.get("cpu", 0)), quantity.integer(limits.get("memory", 0)),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # objects come from others


def node_of(node: Object) -> dict[str, Any] | None:
    """Return what a page of all nodes shows of one; None if it is not like a node."""
    try:
        meta, status = node["metadata"], node.get("status", {})
        conditions = {item["type"]: item for item in status.get("conditions", ())}
        labels = meta.get("labels") or {}
        allocatable = status.get("allocatable", {})
        return {
            "name": meta["name"],
            "roles": sorted(name.removeprefix(_LEADING) for name in labels if name.startswith(_LEADING)),
            "group": next((labels[name] for name in _GROUPS if name in labels), ""),
            "zone": labels.get(_ZONE, ""),
            "ready": conditions.get("Ready", {}).get("status") == "True",
            "problems": [
                f"{name}: {item.get('message', '')}" for name, item in conditions.items()
                if name != "Ready" and item.get("status") == "True"
            ],
            "unschedulable": bool(node.get("spec", {}).get("unschedulable")),
            "version": status.get("nodeInfo", {}).get("kubeletVersion", ""),
            "cpu": quantity.milli(allocatable.get("cpu", 0)),
            "memory": quantity.integer(allocatable.get("memory", 0)),
            "pods": quantity.integer(allocatable.get("pods", 0)),
        }  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


class NodeLoads:
    """The nodes, and the sums of their pods."""

    def __init__(self) -> None:
        self._nodes: dict[str, dict[str, Any]] = {}
        self._loads: dict[str, Load] = {}
        self.version = 0
        self._changed = asyncio.Event()

    def change(self, resource: str, old: Object | None, new: Object | None) -> None:
        """Take in that an object, thinned by ``thinned``, came, changed or is gone."""
        before, after = (old or {}).get("load"), (new or {}).get("load")
        if before == after:
            return
        if resource == NODE:
            if before is not None:
                self._nodes.pop(before["name"], None)
            if after is not None:
                self._nodes[after["name"]] = after
        else:
            for load, sign in ((before, -1), (after, 1)):
                if load is not None:
                    self._loads[load[0]] = self._loads.get(load[0], Load()).plus(load[1], sign)
        self.version += 1
        self._changed.set()

    async def changed(self, version: int) -> None:
        """Wait until something is other than at a version."""
        while self.version == version:
            self._changed.clear()
            await self._changed.wait()

    def nodes(self) -> list[dict[str, Any]]:
        """Return every node with what its pods ask for."""
        return [
            {**self._nodes[name], "load": self._loads.get(name, Load())._asdict()}
            for name in sorted(self._nodes)
        ]


def thinned(resource: str, obj: Object) -> Any:
    """Return what ``NodeLoads`` needs of an object: nothing of most kinds."""
    return load_of(obj) if resource == POD else node_of(obj) if resource == NODE else None
