"""What disruption budgets say to pods that would have to go: to preemption, which may violate them, and to evictions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

from pybernetes.api import selectors
from pybernetes.api.policy.poddisruptionbudget import (
    SEVERAL_BUDGETS,
    VIOLATION,
    unhealthy_may_go,
    violation_cause,
)
from pybernetes.api.resource import Object
from pybernetes.api.selectors import Selector
from pybernetes.scheduling.pods import Labels, Pod


class Budget(NamedTuple):
    """A disruption budget: which pods it is about, how many may go, and which are going already."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str]
    obj: Object


class Refusal(NamedTuple):
    """The eviction API's answer to an eviction that must not be."""

    message: str
    cause: str = ""


class Budgets:
    """All disruption budgets. Which of them are about a pod is worked out once for pods of the same labels."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self.all = [_budget(obj) for obj in objects]
        self._of: WeakKeyDictionary[Labels, tuple[int, ...]] = WeakKeyDictionary()

    def __bool__(self) -> bool:
        return bool(self.all)

    def of(self, pod: Pod) -> tuple[int, ...]:
        """Return the numbers of the budgets that are about a pod."""
        labels = pod.shape.labels
        numbers = self._of.get(labels)
        if numbers is None:
            numbers = self._of[labels] = tuple(
                number
                for number, budget in enumerate(self.all)
                if budget.namespace == labels.namespace and budget.selector.matches(labels.labels)
            )
        return numbers


def split_by_budget(pods: Iterable[Pod], budgets: Budgets) -> tuple[list[Pod], list[Pod]]:
    """Split pods into those whose preemption would violate a budget and the others, preempting all in this order."""
    left: dict[int, int] = {}
    violating: list[Pod] = []
    others: list[Pod] = []
    for pod in pods:
        violates = False
        # Preemption, unlike evictions, counts neither pods without labels nor budgets that are about all pods.
        for number in budgets.of(pod) if pod.shape.labels.labels else ():
            budget = budgets.all[number]
            if not budget.selector or pod.name in budget.disrupted:
                continue
            left[number] = left.get(number, budget.allowed) - 1
            if left[number] < 0:
                violates = True
                break
        (violating if violates else others).append(pod)
    return violating, others


class EvictionBudgets:
    """Counts evictions that are only thought of, as the eviction API would count real ones."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._budgets = Budgets(objects)
        self._left = [budget.allowed for budget in self._budgets.all]

    def evict(self, pod: Pod, *, guarded: bool, ready: bool) -> Refusal | None:
        """Count the eviction of a pod, or return why it must not be; pending, ended and leaving pods are not guarded."""
        numbers = self._budgets.of(pod) if guarded else ()
        if not numbers:
            return None
        if len(numbers) > 1:
            return Refusal(SEVERAL_BUDGETS)
        budget = self._budgets.all[numbers[0]]
        if not ready and unhealthy_may_go(budget.obj):
            return None
        if self._left[numbers[0]] <= 0:
            return Refusal(VIOLATION, violation_cause(self._as_of_now(numbers[0])))
        self._left[numbers[0]] -= 1
        return None

    def replaced(self, pod: Pod) -> None:
        """Count the replacement of an evicted pod, which is on a node and will be ready."""
        for number in self._budgets.of(pod):
            self._left[number] += 1

    def _as_of_now(self, number: int) -> Object:
        """Return a budget with the healthy pods that are left after the evictions so far."""
        budget = self._budgets.all[number]
        status = budget.obj.get("status") or {}
        healthy = status.get("currentHealthy", 0) - (budget.allowed - self._left[number])
        return {**budget.obj, "status": {**status, "currentHealthy": healthy}}


def _budget(obj: Object) -> Budget:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    selector = selectors.from_object(spec.get("selector"))
    disrupted = frozenset(status.get("disruptedPods") or ())
    return Budget(obj["metadata"]["namespace"], selector, status.get("disruptionsAllowed", 0), disrupted, obj)
