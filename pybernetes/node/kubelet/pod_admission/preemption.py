"""Which pods make room for one that the node cannot do without: as few as possible, the least important first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.core.pod import resource_totals
from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.node.kubelet.eviction.ranking import is_critical

Fields = dict[str, Any]
Amounts = dict[str, int]
MESSAGE = "Preempted in order to admit critical pod"
DISRUPTION = "Pod was preempted by Kubelet to accommodate a critical pod."


def _request(pod: Fields, name: str) -> int:
    if name == "pods":
        return 1
    value = resource_totals.requests(pod).get(name, "0")
    return quantity.milli(value) if name == "cpu" else quantity.integer(value)


def missing(pod: Fields, allocatable: Mapping[str, str], others: Iterable[Fields]) -> Amounts:
    """How much more of each resource a pod would need."""
    others = list(others)
    found = {}
    for name in ("pods", *resource_totals.requests(pod)):
        asked = _request(pod, name)
        if not asked or name not in allocatable:
            continue
        have = quantity.milli(allocatable[name]) if name == "cpu" else quantity.integer(allocatable[name])
        lack = asked + sum(_request(each, name) for each in others) - have
        if lack > 0:
            found[name] = lack
    return found


def _after(wanted: Amounts, pods: Iterable[Fields]) -> Amounts:
    pods = list(pods)
    left = {name: amount - sum(_request(pod, name) for pod in pods) for name, amount in wanted.items()}
    return {name: amount for name, amount in left.items() if amount > 0}


def _distance(wanted: Amounts, pod: Fields) -> float:
    """How far a pod is from giving everything that is wanted; each resource counts the same."""
    parts = [(amount - _request(pod, name)) / amount for name, amount in wanted.items()]
    return sum(part * part for part in parts if part > 0)


def _nearest(pods: list[Fields], wanted: Amounts) -> list[Fields]:
    """The pods that give what is wanted, the one that gives most of it first, of several such the smallest."""
    left, chosen = list(pods), []
    while wanted:
        best = min(
            left, key=lambda pod: (_distance(wanted, pod), _request(pod, "memory"), _request(pod, "cpu"))
        )
        left.remove(best)
        chosen.append(best)
        wanted = _after(wanted, [best])
    return chosen


def _is_preemptable(by: Fields, pod: Fields) -> bool:
    if is_critical(by) and not is_critical(pod):
        return True
    return int(by["spec"].get("priority") or 0) > int(pod["spec"].get("priority") or 0)


def victims(pod: Fields, pods: Iterable[Fields], wanted: Amounts) -> list[Fields] | None:
    """The pods that have to go for a critical one; None if even all of them would not be enough."""
    groups: dict[str, list[Fields]] = {"BestEffort": [], "Burstable": [], "Guaranteed": []}
    for each in pods:
        if _is_preemptable(pod, each):
            groups[each.get("status", {}).get("qosClass") or qos_class(each["spec"])].append(each)
    best, middle, good = groups.values()
    if _after(wanted, [*best, *middle, *good]):
        return None
    goods = _nearest(good, _after(wanted, [*best, *middle]))
    middles = _nearest(middle, _after(wanted, [*best, *goods]))
    return [*_nearest(best, _after(wanted, [*middles, *goods])), *middles, *goods]
