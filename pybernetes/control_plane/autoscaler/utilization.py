"""How much of a node its pods ask for. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.control_plane.autoscaler.cluster import ClusterNode
from pybernetes.control_plane.autoscaler.pod_records import PodRecord
from pybernetes.scheduling.resource_requests import CPU, MEMORY


def utilization(
    node: ClusterNode,
    pods: Iterable[PodRecord],
    *,
    ignores_daemons: bool = False,
    ignores_mirrors: bool = False,
) -> float:
    """Return the larger of the shares of cores and memory that pods ask for.

    Pods that are left out are left out of what the node has as well.
    """
    there = [record for record in pods if not record.ends]
    shares = []
    for resource in (CPU, MEMORY):
        total = dict(node.node.allocatable).get(resource, 0)
        asked = left_out = 0
        for record in there:
            amount = record.pod.requests.amount(resource)
            if (ignores_daemons and record.daemon) or (ignores_mirrors and record.mirror):
                left_out += amount
            else:
                asked += amount
        shares.append(asked / (total - left_out) if total > left_out else 0.0)
    return max(shares)
