"""Which pods are preempted for a critical one: as few as possible, the least important first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.pod_kinds import is_critical, qos_of

Amounts = dict[str, int]
MESSAGE = "Preempted in order to admit critical pod"
DISRUPTION = "Pod was preempted by Kubelet to accommodate a critical pod."


def _request(pod: Object, name: str) -> int:
    if name == "pods":
        return 1
    value = resource_totals.requests(pod).get(name, "0")
    return quantity.milli(value) if name == "cpu" else quantity.integer(value)


def missing_amounts(pod: Object, allocatable: Mapping[str, str], others: Iterable[Object]) -> Amounts:
    """Return how much more of each resource a pod would need."""
    others = list(others)
    amounts = {}
    for name in ("pods", *resource_totals.requests(pod)):
        requested = _request(pod, name)
        if not requested or name not in allocatable:
            continue
        have = quantity.milli(allocatable[name]) if name == "cpu" else quantity.integer(allocatable[name])
        lack = requested + sum(_request(other, name) for other in others) - have
        if lack > 0:
            amounts[name] = lack
    return amounts


def _after(wanted: Amounts, pods: Iterable[Object]) -> Amounts:
    pods = list(pods)
    left = {name: amount - sum(_request(pod, name) for pod in pods) for name, amount in wanted.items()}
    return {name: amount for name, amount in left.items() if amount > 0}


def _distance(wanted: Amounts, pod: Object) -> float:
    """Return how far a pod is from freeing everything that is needed; each resource counts the same."""
    parts = [(amount - _request(pod, name)) / amount for name, amount in wanted.items()]
    return sum(part * part for part in parts if part > 0)


def _nearest(pods: list[Object], wanted: Amounts) -> list[Object]:
    """Return the pods that free what is needed, the one that frees most of it first, of several such the smallest."""
    left, chosen = list(pods), []
    while wanted:
        best = min(
            left, key=lambda pod: (_distance(wanted, pod), _request(pod, "memory"), _request(pod, "cpu"))
        )
        left.remove(best)
        chosen.append(best)
        wanted = _after(wanted, [best])
    return chosen


def _is_preemptable(by: Object, pod: Object) -> bool:
    if is_critical(by) and not is_critical(pod):
        return True
    return int(by["spec"].get("priority") or 0) > int(pod["spec"].get("priority") or 0)


def victims(pod: Object, pods: Iterable[Object], wanted: Amounts) -> list[Object] | None:
    """Return the pods to preempt for a critical one; None if even all of them would not be enough."""
    groups: dict[str, list[Object]] = {"BestEffort": [], "Burstable": [], "Guaranteed": []}
    for candidate in pods:
        if _is_preemptable(pod, candidate):
            groups[qos_of(candidate)].append(candidate)
    best_effort, burstable, guaranteed = groups.values()
    if _after(wanted, [*best_effort, *burstable, *guaranteed]):
        return None
    last = _nearest(guaranteed, _after(wanted, [*best_effort, *burstable]))
    second = _nearest(burstable, _after(wanted, [*best_effort, *last]))
    first = _nearest(best_effort, _after(wanted, [*second, *last]))
    return [*first, *second, *last]
