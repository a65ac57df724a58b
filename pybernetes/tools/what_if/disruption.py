"""Which pods may be evicted: disruption budgets as the eviction API counts them."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api import selectors
from pybernetes.api.selectors import Selector
from pybernetes.scheduling.pods import Pod
from pybernetes.tools.what_if.cluster import Cluster

SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


class Budget(NamedTuple):
    """A disruption budget."""

    name: str
    namespace: str
    selector: Selector
    always_unready: bool  # pods that are not ready may always go
    desired: int
    healthy: int


class Budgets:
    """All budgets, and how many pods each still lets go."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._budgets: list[Budget] = []
        self._allowed: list[int] = []
        for obj in cluster.listers.all("poddisruptionbudgets"):
            meta, spec, status = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
            self._budgets.append(
                Budget(
                    meta["name"],
                    meta["namespace"],
                    selectors.from_object(spec.get("selector")),
                    spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow",
                    status.get("desiredHealthy", 0),
                    status.get("currentHealthy", 0),
                )
            )
            self._allowed.append(status.get("disruptionsAllowed", 0))

    def refusal(self, pod: Pod) -> str:
        """Return why a pod may not be evicted now; if nothing speaks against it, count it as evicted."""
        facts = self._cluster.facts_of(pod)
        if pod.deleting or not facts.running:
            return ""
        own = self._of(pod)
        if not own:
            return ""
        if len(own) > 1:
            return SEVERAL
        budget = self._budgets[own[0]]
        if not facts.ready and (budget.always_unready or budget.healthy >= budget.desired > 0):
            return ""
        if self._allowed[own[0]] <= 0:
            return (
                "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget "
                f"{budget.name} needs {budget.desired} healthy pods and has {budget.healthy} currently"
            )
        self._allowed[own[0]] -= 1
        return ""

    def replaced(self, pod: Pod) -> None:
        """Count the replacement of an evicted pod, which is on a node and will be ready."""
        for number in self._of(pod):
            self._allowed[number] += 1

    def _of(self, pod: Pod) -> list[int]:
        labels = pod.shape.labels.labels
        return [
            number
            for number, budget in enumerate(self._budgets)
            if budget.namespace == pod.namespace and budget.selector.matches(labels)
        ]
