"""Requests and limits in the units of control groups."""

from __future__ import annotations

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.api.resource import Object

PERIOD = 100_000  # microseconds
_SMALLEST_QUOTA = 1000
_SHARES_LEAST, _SHARES_MOST = 2, 262_144
_GUARANTEED, _BEST_EFFORT = -997, 1000
_NODE_CRITICAL = 2_000_001_000


def shares(milli: int) -> int:
    """Return the CPU shares of a request in thousandths of a CPU."""
    return max(_SHARES_LEAST, min(_SHARES_MOST, milli * 1024 // 1000)) if milli else _SHARES_LEAST


def quota(milli: int, period: int = PERIOD) -> int:
    """Return how long a CPU limit lets processes run in each period; 0 for no limit."""
    return max(_SMALLEST_QUOTA, milli * period // 1000) if milli else 0


def weight(cpu_shares: int) -> int:
    """Return the shares of cgroup v1 as a weight of v2, the way that runc converts them."""
    return 1 + (cpu_shares - 2) * 9999 // 262_142


def amount_of(container: Object, kind: str, name: str) -> str | None:
    """Return the request or limit of a container for a resource."""
    return ((container.get("resources") or {}).get(kind) or {}).get(name)


def oom_score(pod: Object, container: Object, memory_capacity: int) -> int:
    """Return how readily the kernel kills a container when memory runs out."""
    spec = pod["spec"]
    quality = qos_class(spec)
    if (spec.get("priority") or 0) >= _NODE_CRITICAL or quality == "Guaranteed":
        return _GUARANTEED
    if quality == "BestEffort" or not memory_capacity:
        return _BEST_EFFORT
    score = 1000 - 1000 * _memory_request(container) // memory_capacity
    if is_restartable(container) and container in spec.get("initContainers", ()):
        least = min((_memory_request(main) for main in spec["containers"]), default=0)
        score = min(score, 1000 - 1000 * least // memory_capacity)
    if score < 1000 + _GUARANTEED:
        return 1000 + _GUARANTEED
    return score - 1 if score == _BEST_EFFORT else score


def _memory_request(container: Object) -> int:
    value = amount_of(container, "requests", "memory")
    return quantity.integer(value) if value else 0


def pod_resources(pod: Object, period: int = PERIOD) -> tuple[int, int, int]:
    """Return CPU shares, CPU quota (0 for none) and memory limit (0 for none) of a pod's own control group."""
    spec = pod["spec"]
    requests = resource_totals.requests({"spec": spec})
    limits = resource_totals.limits({"spec": spec})
    bounded: dict[str, bool] = {}
    whole = (spec.get("resources") or {}).get("limits") or {}
    for name in ("cpu", "memory"):
        bounded[name] = name in whole or all(
            amount_of(container, "limits", name)
            for group in ("containers", "initContainers")
            for container in spec.get(group, ())
        )
    cpu = quantity.milli(requests["cpu"]) if "cpu" in requests else 0
    return (
        shares(cpu),
        quota(quantity.milli(limits["cpu"]), period) if bounded["cpu"] and "cpu" in limits else 0,
        quantity.integer(limits["memory"]) if bounded["memory"] and "memory" in limits else 0,
    )
