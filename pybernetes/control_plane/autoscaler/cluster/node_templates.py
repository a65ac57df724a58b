"""What a new node of a group would be: like a node that it has, or as the cloud says, with the pods of daemon sets."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.autoscaler.cluster.cluster import Capacity, Cluster, ClusterNode
from pybernetes.control_plane.autoscaler.cluster.simulation import Simulation
from pybernetes.control_plane.autoscaler.cluster.taint_rules import TaintRules
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.pods import Pod

_HOSTNAME = "kubernetes.io/hostname"
# What a daemon set's pods tolerate by themselves.
_TOLERATED = [
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
    for name, effect in (
        ("not-ready", "NoExecute"), ("unreachable", "NoExecute"), ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"), ("pid-pressure", "NoSchedule"), ("unschedulable", "NoSchedule"),
    )
]  # fmt: skip


class Template(NamedTuple):
    """A node that does not exist, and what daemon sets would put onto it."""

    group: str
    node: Node
    daemons: tuple[Pod, ...]
    capacity: Capacity = Capacity()

    @property
    def cores(self) -> int:
        """The cores that it has, in thousandths."""
        return self.capacity.cores

    @property
    def memory(self) -> int:
        """The bytes of memory that it has."""
        return self.capacity.memory

    def named(self, name: str) -> Node:
        """Return it under another name."""
        return self.node._replace(name=name, labels={**self.node.labels, _HOSTNAME: name})

    def place_daemons(self, simulation: Simulation, name: str) -> None:
        """Put the pods of daemon sets onto a node of this kind."""
        for number, daemon in enumerate(self.daemons):
            simulation.place(
                Pod(daemon.namespace, daemon.name, f"{daemon.uid}/{name}/{number}", daemon.shape), name
            )


def from_node(node: ClusterNode, group: str, rules: TaintRules) -> tuple[Node, Capacity]:
    """Return a new node like one that a group has, and what it has in all."""
    taints = tuple(taint for taint in node.node.taints if not rules.passing(taint.key))
    name = f"template-node-for-{group}"
    labels = {**node.node.labels, _HOSTNAME: name}
    return node.node._replace(name=name, labels=labels, taints=taints, unschedulable=False), node.capacity


def from_object(cluster: Cluster, obj: Object, group: str) -> tuple[Node, Capacity]:
    """Return the node that a cloud describes, and what it has in all."""
    made = copy.copy(obj)
    made["metadata"] = {**(obj.get("metadata") or {}), "name": f"template-node-for-{group}"}
    status = obj.get("status") or {}
    amounts = [status.get(name) or {} for name in ("capacity", "allocatable")]
    made["status"] = {**status, "capacity": amounts[0] or amounts[1], "allocatable": amounts[1] or amounts[0]}
    return from_node(cluster.read_node(made), group, cluster.taints)


def daemon_pods(cluster: Cluster, sets: Iterable[Object], node: Node) -> tuple[Pod, ...]:
    """Return the pods that daemon sets would put onto a new node."""
    pods = []
    with Simulation(cluster) as simulation:
        simulation.set_node(node)
        for daemon in sets:
            pod = _daemon_pod(cluster, daemon)
            if not simulation.reasons(pod, node.name):
                simulation.place(pod, node.name)
                pods.append(pod)
    return tuple(pods)


def _daemon_pod(cluster: Cluster, daemon: Object) -> Pod:
    meta, template = daemon["metadata"], daemon["spec"]["template"]
    spec = dict(template.get("spec") or {})
    spec["tolerations"] = [*(spec.get("tolerations") or ()), *_TOLERATED]
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": meta["name"], "controller": True}
    labels = (template.get("metadata") or {}).get("labels") or {}
    obj = {
        "metadata": {
            "namespace": meta["namespace"], "name": f"{meta['name']}-template", "uid": f"daemon/{meta['uid']}",
            "labels": labels, "ownerReferences": [owner],
        },
        "spec": spec,
    }  # fmt: skip
    return cluster.pod_reader.read(obj)


def template(cluster: Cluster, group: str, made: tuple[Node, Capacity], sets: Iterable[Object]) -> Template:
    """Return the template of a group from its node."""
    node, capacity = made
    return Template(group, node, daemon_pods(cluster, sets, node), capacity)
