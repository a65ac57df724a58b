"""Nodes that lose their pods, shared by the questions about them."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if.cluster import Cluster, QuestionError

ZONES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def known_nodes(cluster: Cluster, names: Iterable[str]) -> list[str]:
    """Return the names; raise QuestionError if one is no node."""
    distinct = list(dict.fromkeys(names))
    for name in distinct:
        if cluster.snapshot.node(name) is None:
            raise QuestionError(f'nodes "{name}" not found')
    return distinct


def nodes_or_zones(cluster: Cluster, names: Iterable[str]) -> list[str]:
    """Return the named nodes, and the nodes in the named zones and regions."""
    nodes: dict[str, None] = {}
    for name in names:
        if cluster.snapshot.node(name) is not None:
            nodes[name] = None
            continue
        inside = [
            node.name
            for node in cluster.snapshot.nodes
            if node is not None and any(node.labels.get(key) == name for key in ZONES)
        ]
        if not inside:
            raise QuestionError(f'"{name}" is neither a node nor a zone or region that a node is in')
        nodes |= dict.fromkeys(sorted(inside))
    return list(nodes)


def stays(cluster: Cluster, pod: Pod) -> bool:
    """Return whether a pod belongs to its node: a daemon set's or a static pod's goes nowhere else."""
    owner = pod.shape.owner
    return cluster.inputs_of(pod).mirror or (owner is not None and owner.kind in ("DaemonSet", "Node"))
