"""How much of a node its pods ask for. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.control_plane.autoscaler.cluster.cluster import ClusterNode
from pybernetes.control_plane.autoscaler.cluster.pod_records import PodRecord
from pybernetes.scheduling.resource_requests import CPU, MEMORY


def utilization(
    node: ClusterNode,
    pods: Iterable[PodRecord],
    *,
    ignores_daemons: bool = False,
    ignores_mirrors: bool = False,
    now: float = 0.0,
) -> float | None:
    """Return the larger of the shares of cores and memory that pods ask for; None if the node does not say what it has.

    Pods that are left out are left out of what the node has as well. Those that should be gone by now count for nothing.
    """
    there = [record for record in pods if not record.ends and not record.overdue(now)]
    shares = []
    for resource in (CPU, MEMORY):
        total = dict(node.node.allocatable).get(resource, 0)
        if total <= 0:
            return None
        asked = left_out = 0
        for record in there:
            amount = record.pod.requests.amount(resource)
            if (ignores_daemons and record.daemon) or (ignores_mirrors and record.mirror):
                left_out += amount
            else:
                asked += amount
        shares.append(asked / (total - left_out) if total > left_out else 0.0 if not asked else float("inf"))
    return max(shares)
