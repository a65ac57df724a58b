"""Requests and limits in the words of CRI and of control groups."""

from __future__ import annotations

from typing import Any

from cri_api.v1 import api_pb2 as messages

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.core.pod.qos_class import qos_class

Fields = dict[str, Any]
Message = Any
PERIOD = 100_000  # microseconds
_SMALLEST_QUOTA = 1000
_SHARES_LEAST, _SHARES_MOST = 2, 262_144
_GUARANTEED, _BEST_EFFORT = -997, 1000
_NODE_CRITICAL = 2_000_001_000


def shares(milli: int) -> int:
    """CPU shares of a request in thousandths of a CPU."""
    return max(_SHARES_LEAST, min(_SHARES_MOST, milli * 1024 // 1000)) if milli else _SHARES_LEAST


def quota(milli: int, period: int = PERIOD) -> int:
    """How long a CPU limit lets processes run in each period; 0 for no limit."""
    return max(_SMALLEST_QUOTA, milli * period // 1000) if milli else 0


def weight(cpu_shares: int) -> int:
    """Shares of cgroup v1 as a weight of v2, the way that runc converts them."""
    return 1 + (cpu_shares - 2) * 9999 // 262_142


def _amount(container: Fields, kind: str, name: str) -> str | None:
    return ((container.get("resources") or {}).get(kind) or {}).get(name)


def linux(
    pod: Fields, container: Fields, memory_capacity: int, *, cfs_quota: bool = True, swap: bool = False,
    oom_group: bool = False,
) -> Message:  # fmt: skip
    """The resources of a container; with ``oom_group`` all its processes go when its memory runs out (v2 only)."""
    spec = pod["spec"]
    whole = (spec.get("resources") or {}).get("limits") or {}
    cpu_limit = _amount(container, "limits", "cpu") or whole.get("cpu")
    memory_limit = _amount(container, "limits", "memory") or whole.get("memory")
    cpu_request = _amount(container, "requests", "cpu")
    if cpu_request is None:
        cpu_request = cpu_limit
    result = messages.LinuxContainerResources(
        cpu_shares=shares(quantity.milli(cpu_request) if cpu_request else 0),
        oom_score_adj=oom_score(pod, container, memory_capacity),
    )
    if oom_group:
        result.unified["memory.oom.group"] = "1"
    if cfs_quota:
        result.cpu_period = PERIOD
        result.cpu_quota = quota(quantity.milli(cpu_limit)) if cpu_limit else 0
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


def oom_score(pod: Fields, container: Fields, memory_capacity: int) -> int:
    """How willingly the kernel kills a container when memory runs out."""
    spec = pod["spec"]
    quality = qos_class(spec)
    if (spec.get("priority") or 0) >= _NODE_CRITICAL or quality == "Guaranteed":
        return _GUARANTEED
    if quality == "BestEffort" or not memory_capacity:
        return _BEST_EFFORT
    score = 1000 - 1000 * _memory_request(container) // memory_capacity
    if container.get("restartPolicy") == "Always" and container in spec.get("initContainers", ()):
        least = min((_memory_request(each) for each in spec["containers"]), default=0)
        score = min(score, 1000 - 1000 * least // memory_capacity)
    if score < 1000 + _GUARANTEED:
        return 1000 + _GUARANTEED
    return score - 1 if score == _BEST_EFFORT else score


def _memory_request(container: Fields) -> int:
    value = _amount(container, "requests", "memory")
    return quantity.integer(value) if value else 0


def pod_limits(pod: Fields) -> tuple[int, int, int]:
    """CPU shares, CPU quota (0 for none) and memory limit (0 for none) of a pod's own control group."""
    spec = pod["spec"]
    requests = resource_totals.requests({"spec": spec})
    limits = resource_totals.limits({"spec": spec})
    bounded: dict[str, bool] = {}
    whole = (spec.get("resources") or {}).get("limits") or {}
    for name in ("cpu", "memory"):
        bounded[name] = name in whole or all(
            _amount(each, "limits", name)
            for group in ("containers", "initContainers")
            for each in spec.get(group, ())
        )
    cpu = quantity.milli(requests["cpu"]) if "cpu" in requests else 0
    return (
        shares(cpu),
        quota(quantity.milli(limits["cpu"])) if bounded["cpu"] and "cpu" in limits else 0,
        quantity.integer(limits["memory"]) if bounded["memory"] and "memory" in limits else 0,
    )
