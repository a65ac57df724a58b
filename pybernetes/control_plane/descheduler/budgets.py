"""What PodDisruptionBudgets would say to an eviction: how a dry run comes to the same end as a real one."""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.pod_records import (
    HAS_ENDED,
    IS_DELETING,
    IS_PENDING,
    IS_READY,
    PodRecord,
)

VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget."
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class Budgets:
    """Counts the disruptions that budgets allow, as the API server does."""

    def __init__(self, budgets: Iterable[Object]) -> None:
        self._by_namespace: dict[str, list[Object]] = {}
        self._left: dict[str, int] = {}
        for budget in budgets:
            meta = budget["metadata"]
            self._by_namespace.setdefault(meta["namespace"], []).append(budget)
            allowed = (budget.get("status") or {}).get("disruptionsAllowed", 0)
            self._left[f"{meta['namespace']}/{meta['name']}"] = allowed

    def take(self, record: PodRecord) -> str:
        """Count the eviction of a pod; return why it must not be, or nothing if it may."""
        if record.flags & (HAS_ENDED | IS_DELETING | IS_PENDING):
            return ""
        labels = record.pod.shape.labels.labels
        mine = [
            budget
            for budget in self._by_namespace.get(record.pod.namespace, ())
            if selectors.from_object((budget.get("spec") or {}).get("selector")).matches(labels)
        ]
        if len(mine) > 1:
            return SEVERAL
        if not mine or (not record.flags & IS_READY and _unhealthy_may_go(mine[0])):
            return ""
        key = f"{record.pod.namespace}/{mine[0]['metadata']['name']}"
        if self._left[key] <= 0:
            return VIOLATION
        self._left[key] -= 1
        return ""


def _unhealthy_may_go(budget: Object) -> bool:
    """Return whether pods that are not ready need no allowance."""
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return desired > 0 and status.get("currentHealthy", 0) >= desired
