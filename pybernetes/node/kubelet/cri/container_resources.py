"""The resources of a container in terms of CRI."""

from __future__ import annotations

from cri_api.v1 import api_pb2 as messages

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cgroups.linux_resources import PERIOD, amount_of, oom_score, quota, shares
from pybernetes.node.kubelet.cri.messages import Message


def container_resources(
    pod: Object, container: Object, memory_capacity: int, *, cfs_quota: bool = True, cfs_period: int = PERIOD, swap: bool = False,
    oom_group: bool = False,
) -> Message:  # fmt: skip
    """Return the resources of a container; with ``oom_group`` all its processes are killed together (v2 only)."""
    spec = pod["spec"]
    whole = (spec.get("resources") or {}).get("limits") or {}
    cpu_limit = amount_of(container, "limits", "cpu") or whole.get("cpu")
    memory_limit = amount_of(container, "limits", "memory") or whole.get("memory")
    cpu_request = amount_of(container, "requests", "cpu")
    if cpu_request is None:
        cpu_request = cpu_limit
    result = messages.LinuxContainerResources(
        cpu_shares=shares(quantity.milli(cpu_request) if cpu_request else 0),
        oom_score_adj=oom_score(pod, container, memory_capacity),
    )
    if oom_group:
        result.unified["memory.oom.group"] = "1"
    if cfs_quota:
        result.cpu_period = cfs_period
        result.cpu_quota = quota(quantity.milli(cpu_limit), cfs_period) if cpu_limit else 0
    if memory_limit:
        result.memory_limit_in_bytes = quantity.integer(memory_limit)
        if not swap:
            result.memory_swap_limit_in_bytes = result.memory_limit_in_bytes
    for name, value in ((container.get("resources") or {}).get("limits") or {}).items():
        if name.startswith("hugepages-"):
            result.hugepage_limits.append(
                messages.HugepageLimit(
                    page_size=name.removeprefix("hugepages-").replace("i", "B"),
                    limit=quantity.integer(value),
                )
            )
    return result
