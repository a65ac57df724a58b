"""A cloud that does what a test says, and objects to try an autoscaler with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.cluster.node_templates import Template, from_object
from pybernetes.control_plane.autoscaler.provider import (
    RUNNING,
    CloudError,
    GroupOptions,
    Instance,
    NodeGroup,
    NodeReference,
    NotImplementedByCloud,
)
from pybernetes.lib.clock import Clock


@dataclass
class FakeGroup:
    """A group of the cloud."""

    minimum: int = 0
    maximum: int = 5
    target: int = 0
    cpu: str = "2"
    memory: str = "4Gi"
    labels: dict[str, str] = field(default_factory=dict)
    price: float = 1.0
    instances: list[Instance] = field(default_factory=list)
    arrives: bool = True  # whether machines come when they are asked for
    failure: str = ""  # why no more machines are given


class FakeCloud:
    """Remembers what it was asked to do."""

    def __init__(self, **groups: FakeGroup) -> None:
        self.groups = groups
        self.calls: list[tuple[str, str, Any]] = []
        self.down = ""
        self.answers = asyncio.Event()  # cleared by a test while the cloud is to be slow
        self.answers.set()
        self.priced = False
        self._count = 0

    def _group(self, name: str) -> FakeGroup:
        if self.down:
            raise CloudError(self.down)
        return self.groups[name]

    def give(self, name: str, count: int = 1) -> None:
        """Make machines of a group, which it already is to have."""
        for _ in range(count):
            self.groups[name].instances.append(Instance(f"fake://{name}-{self._count}", RUNNING))
            self._count += 1

    async def refresh(self) -> None:
        await self.answers.wait()
        if self.down:
            raise CloudError(self.down)

    async def node_groups(self) -> list[NodeGroup]:
        return [NodeGroup(name, group.minimum, group.maximum) for name, group in self.groups.items()]

    async def group_of(self, node: NodeReference) -> str:
        return node.labels.get("group", "")

    async def target_size(self, group: str) -> int:
        return self._group(group).target

    async def instances(self, group: str) -> list[Instance]:
        return list(self._group(group).instances)

    async def template(self, group: str) -> Object:
        made = self._group(group)
        return node(f"{group}-template", group=group, cpu=made.cpu, memory=made.memory, labels=made.labels)

    async def options(self, group: str, defaults: GroupOptions) -> GroupOptions:
        return defaults

    async def increase(self, group: str, delta: int) -> None:
        made = self._group(group)
        self.calls.append(("increase", group, delta))
        await self.answers.wait()
        if made.failure:
            raise CloudError(made.failure)
        made.target += delta
        if made.arrives:
            self.give(group, delta)

    async def delete_nodes(self, group: str, nodes: Sequence[NodeReference]) -> None:
        made, gone = self._group(group), {reference.provider_id for reference in nodes}
        self.calls.append(("delete", group, sorted(gone)))
        if made.failure:
            raise CloudError(made.failure)
        made.target -= len(gone)
        made.instances = [instance for instance in made.instances if instance.id not in gone]

    async def decrease_target(self, group: str, delta: int) -> None:
        made = self._group(group)
        self.calls.append(("decrease", group, delta))
        if made.target + delta < len(made.instances):
            raise CloudError("there are such machines")
        made.target += delta

    async def node_price(self, node: NodeReference, seconds: float) -> float:
        if not self.priced:
            raise NotImplementedByCloud("no prices")
        return self.groups[node.labels["group"]].price

    async def pod_price(self, pod: Object, seconds: float) -> float:
        if not self.priced:
            raise NotImplementedByCloud("no prices")
        return 0.1

    async def close(self) -> None:
        pass


class Ahead(Clock):
    """The time, and some seconds more."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return super().now() + self.seconds

    def monotonic(self) -> float:
        return super().monotonic() + self.seconds


def node(
    name: str, *, group: str = "", cpu: str = "2", memory: str = "4Gi", pods: str = "110", provider_id: str = "",
    labels: dict[str, str] | None = None, taints: Sequence[Object] = (), ready: bool = True, annotations: dict[str, str] | None = None,
    left: dict[str, str] | None = None,
) -> Object:  # fmt: skip
    """Return a node; ``left`` is what its pods may have, where that is less than all."""
    amounts = {"cpu": cpu, "memory": memory, "pods": pods}
    marks = {"kubernetes.io/hostname": name, **({"group": group} if group else {}), **(labels or {})}
    condition = {"type": "Ready", "status": "True" if ready else "False", "reason": "r", "message": "m",
                 "lastTransitionTime": "2026-01-01T00:00:00Z", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}  # fmt: skip
    return {
        "metadata": {
            "name": name,
            "labels": marks,
            "annotations": annotations or {},
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"taints": list(taints), **({"providerID": provider_id} if provider_id else {})},
        "status": {
            "capacity": amounts,
            "allocatable": {**amounts, **(left or {})},
            "conditions": [condition],
        },
    }


def pod(
    name: str, on: str = "", *, cpu: str = "1", memory: str = "0", owner: str = "apps/v1 ReplicaSet web",
    namespace: str = "default", annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None,
    deleted: str = "", **spec: Any,
) -> Object:  # fmt: skip
    """Return a pod; without a node the scheduler has found no room for it."""
    meta: Object = {
        "name": name, "namespace": namespace, "uid": f"uid-{name}", "labels": labels or {"app": "web"},
        "annotations": annotations or {}, "creationTimestamp": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    if deleted:
        meta["deletionTimestamp"] = deleted
    if owner:
        version, kind, owner_name = owner.split()
        meta["ownerReferences"] = [
            {
                "apiVersion": version,
                "kind": kind,
                "name": owner_name,
                "uid": f"{kind}-uid",
                "controller": True,
            }
        ]
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    made: Object = {
        "metadata": meta,
        "spec": {
            "containers": [container],
            "terminationGracePeriodSeconds": 0,
            "schedulerName": "default-scheduler",
            **spec,
        },
    }
    if on:
        made["spec"]["nodeName"] = on
        made["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    else:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "m"}
        made["status"] = {"phase": "Pending", "conditions": [condition]}
    return made


def cluster_of(
    nodes: Sequence[Object] = (), pods: Sequence[Object] = (), **objects: Sequence[Object]
) -> Cluster:
    """Return a cluster as the autoscaler knows it; its replica set is there."""
    cluster = Cluster()
    for obj in nodes:
        cluster.set_node(obj["metadata"]["name"], cluster.read_node(obj))
    for kind, others in {"replicasets": [WEB], **objects}.items():
        for obj in others:
            meta = obj["metadata"]
            cluster.set_object(kind, f"{meta['namespace']}/{meta['name']}", obj)
    for obj in pods:
        cluster.set_pod(f"{obj['metadata']['namespace']}/{obj['metadata']['name']}", cluster.read_pod(obj))
    return cluster


def template(group: str, **more: Any) -> Template:
    """Return what the next node of a group would be."""
    daemons = more.pop("daemons", ())
    cluster = cluster_of()
    node_of_it, capacity = from_object(cluster, node(group, **more), group)
    asked = tuple(cluster.read_pod(pod(f"d{number}", cpu=cpu)).pod for number, cpu in enumerate(daemons))
    return Template(group, node_of_it, asked, capacity)


WEB: Object = {
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}},
}
