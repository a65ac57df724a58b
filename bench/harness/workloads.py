"""Nodes and pods for the scheduler benchmark, one function per workload, in the manner of upstream's scheduler_perf."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
NAMESPACE = "bench-scheduler"
LABEL = "bench.pybernetes/scheduler"
HOLD = {"key": "bench.pybernetes/hold", "effect": "NoSchedule"}
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
LOW, HIGH = "bench-low", "bench-high"
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


@dataclass
class Workload:
    """What is in the cluster before, and the pods that are measured."""

    pod: Callable[[int], Object]
    zones: int = 3
    placed: list[Object] = field(default_factory=list)  # pods that are created on a node
    waiting: list[Object] = field(default_factory=list)  # pods that fit nowhere
    evicts: bool = False  # pods are deleted along the way
    churn: bool = False  # nodes, pods and services come and go meanwhile


def node(number: int, zones: int) -> Object:
    """Return a node with 4 CPUs, 32 Gi of memory and room for 110 pods, on hold until the pods are there."""
    name = f"bench-node-{number}"
    amounts = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    now = "2026-01-01T00:00:00Z"
    ready = {
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "bench", "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }  # fmt: skip
    labels = {HOST: name, ZONE: f"zone-{number % zones}", LABEL: "node"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": [HOLD]},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]},
    }


def pod(
    name: str, cpu: str = "100m", memory: str = "500Mi", labels: dict[str, str] | None = None, **spec: Any
) -> Object:
    """Return a pod that never runs: there is no kubelet."""
    requests = {"cpu": cpu, "memory": memory}
    # A node that nobody reports on is tainted by the node controller, if there is one.
    tolerations = [{"key": key, "operator": "Exists"} for key in _TOLERATED]
    return {
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {LABEL: "pod", **(labels or {})}},
        "spec": {
            "containers": [
                {"name": "pause", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
            ],
            "tolerations": tolerations,
            "terminationGracePeriodSeconds": 0,
            **spec,
        },
    }


def _term(key: str, labels: dict[str, str]) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}}


def basic(nodes: int, pods: int) -> Workload:
    """Return pods that ask for CPU and memory."""
    return Workload(lambda number: pod(f"measured-{number}"))


def node_affinity(nodes: int, pods: int) -> Workload:
    """Return pods that must be in one of two zones."""
    expression = {"key": ZONE, "operator": "In", "values": ["zone-0", "zone-1"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return Workload(lambda number: pod(f"measured-{number}", affinity=affinity))


def pod_affinity(nodes: int, pods: int) -> Workload:
    """Return pods that must be in the zone of others of their kind; all nodes are in one zone."""
    labels = {"color": "blue"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(ZONE, labels)]}}
    return Workload(lambda number: pod(f"measured-{number}", labels=labels, affinity=affinity), zones=1)


def pod_anti_affinity(nodes: int, pods: int) -> Workload:
    """Return pods that must not be on a node with another of their kind; as many kinds as are needed for all to fit."""
    kinds = -(-pods // max(1, nodes * 3 // 4))

    def measured(number: int) -> Object:
        labels = {"color": f"green-{number % kinds}"}
        affinity = {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(HOST, labels)]}
        }
        return pod(f"measured-{number}", labels=labels, affinity=affinity)

    return Workload(measured)


def topology_spread(nodes: int, pods: int) -> Workload:
    """Return pods that must be spread over three zones."""
    labels = {"color": "red"}
    constraint = {
        "maxSkew": 5, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }  # fmt: skip
    return Workload(
        lambda number: pod(f"measured-{number}", labels=labels, topologySpreadConstraints=[constraint])
    )


def preemption(nodes: int, pods: int) -> Workload:
    """Return nodes full of pods of low priority, and pods of high priority that need their places."""
    placed = [
        pod(f"low-{number}-{part}", cpu="1", priorityClassName=LOW, nodeName=f"bench-node-{number}")
        for number in range(nodes)
        for part in range(4)
    ]
    return Workload(
        lambda number: pod(f"measured-{number}", cpu="1", priorityClassName=HIGH), placed=placed, evicts=True
    )


def mixed_churn(nodes: int, pods: int) -> Workload:
    """Return pods as in `basic`, while a node, a pod that fits nowhere and a service come and go ten times a second."""
    return Workload(lambda number: pod(f"measured-{number}"), churn=True)


def unschedulable(nodes: int, pods: int) -> Workload:
    """Return pods as in `basic`, while a fifth as many wait that fit nowhere."""
    waiting = [pod(f"waiting-{number}", cpu="9") for number in range(pods // 5)]
    return Workload(lambda number: pod(f"measured-{number}"), waiting=waiting)


WORKLOADS: dict[str, Callable[[int, int], Workload]] = {
    "basic": basic,
    "node-affinity": node_affinity,
    "pod-affinity": pod_affinity,
    "pod-anti-affinity": pod_anti_affinity,
    "topology-spread": topology_spread,
    "preemption": preemption,
    "mixed-churn": mixed_churn,
    "unschedulable": unschedulable,
}
