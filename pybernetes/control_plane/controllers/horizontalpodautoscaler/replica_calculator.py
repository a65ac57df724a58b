"""How many replicas one metric asks for. Pure; figures are thousandths."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.pods import is_ready
from pybernetes.control_plane.controllers.horizontalpodautoscaler.pod_groups import (
    CannotCompute,
    PodGroups,
    PodMetric,
)

MOST_REPLICAS = 2**31 - 1
_MOST = 2**63 - 1
_NO_PODS = "no pods returned by selector while calculating replica count"
_NO_METRICS = "did not receive metrics for targeted pods (pods might be unready)"


class Tolerances(NamedTuple):
    """How far the ratio of usage and target may be from 1 without anything being done."""

    up: float = 0.1
    down: float = 0.1

    def holds(self, ratio: float) -> bool:
        """Return whether a ratio is close enough."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


class Proposal(NamedTuple):
    """What a metric asks for: replicas, the usage that was found, and the share of requests where that is the target."""

    replicas: int
    usage: int
    utilization: int | None = None


def _quotient(total: int, count: int) -> int:
    """Divide towards zero, as upstream's whole numbers do."""
    return abs(total) // count * (1 if total >= 0 else -1)


def _bounded(replicas: float) -> int:
    return int(min(MOST_REPLICAS, max(-MOST_REPLICAS, math.ceil(replicas))))


def _utilization(
    metrics: Mapping[str, int], requests: Mapping[str, int], target: int
) -> tuple[float, int, int]:
    """Return the ratio to the target, the share of the requests that is used in percent, and the average usage."""
    known = [name for name in metrics if name in requests]
    total, asked = sum(metrics[name] for name in known), sum(requests[name] for name in known)
    if not asked:
        raise CannotCompute("no metrics returned matched known pods")
    share = _quotient(total * 100, asked)
    return share / target, share, _quotient(total, len(known))


def by_utilization(
    current: int, metrics: Mapping[str, PodMetric], requests: Mapping[str, int], groups: PodGroups, target: int,
    tolerances: Tolerances,
) -> Proposal:  # fmt: skip
    """Return the proposal for a target that is a share of what pods ask for."""

    def ratio_of(values: Mapping[str, int]) -> float:
        return _utilization(values, requests, target)[0]

    counted = _counted(metrics, groups)
    _, share, usage = _utilization(counted, requests, target)
    # Pods without metrics are taken to use all that they asked for when there is little to do, and nothing else.
    full = {name: requests[name] * max(100, target) // 100 for name in groups.missing if name in requests}
    return Proposal(_replicas(current, counted, groups, ratio_of, full, tolerances), usage, share)


def by_average(
    current: int, metrics: Mapping[str, PodMetric], groups: PodGroups, target: int, tolerances: Tolerances
) -> Proposal:
    """Return the proposal for a target that each pod is to have on average."""

    def ratio_of(values: Mapping[str, int]) -> float:
        return _quotient(sum(values.values()), len(values)) / target

    counted = _counted(metrics, groups)
    full = dict.fromkeys(groups.missing, target)
    replicas = _replicas(current, counted, groups, ratio_of, full, tolerances)
    return Proposal(replicas, _quotient(sum(counted.values()), len(counted)))


def _counted(metrics: Mapping[str, PodMetric], groups: PodGroups) -> dict[str, int]:
    left_out = groups.ignored | groups.unready
    counted = {name: metric.value for name, metric in metrics.items() if name not in left_out}
    if not counted:
        raise CannotCompute(_NO_METRICS)
    return counted


def _replicas(
    current: int, counted: dict[str, int], groups: PodGroups, ratio_of: Callable[[Mapping[str, int]], float],
    full: Mapping[str, int], tolerances: Tolerances,
) -> int:  # fmt: skip
    """Decide: what is not known about pods may make a change smaller, and never turns it round."""
    ratio = ratio_of(counted)
    up_with_unready = bool(groups.unready) and ratio > 1.0
    if not up_with_unready and not groups.missing:
        return current if tolerances.holds(ratio) else _bounded(ratio * groups.ready)
    guessed = dict(counted)
    if groups.missing and ratio < 1.0:
        guessed |= full
    elif groups.missing and ratio > 1.0:
        guessed |= dict.fromkeys(groups.missing, 0)
    if up_with_unready:
        guessed |= dict.fromkeys(groups.unready, 0)
    new_ratio = ratio_of(guessed)
    if tolerances.holds(new_ratio) or (ratio < 1.0 < new_ratio) or (new_ratio < 1.0 < ratio):
        return current
    replicas = _bounded(new_ratio * len(guessed))
    if (new_ratio < 1.0 and replicas > current) or (new_ratio > 1.0 and replicas < current):
        return current
    return replicas


def by_value(
    current: int, usage: int, target: int, pods: Iterable[Object], tolerances: Tolerances
) -> Proposal:
    """Return the proposal for one figure that all pods together are to bring to its target."""
    ratio = usage / target
    if current == 0:
        return Proposal(_bounded(ratio), usage)
    if tolerances.holds(ratio):
        return Proposal(current, usage)
    listed = list(pods)
    if not listed:
        raise CannotCompute(f"unable to calculate ready pods: {_NO_PODS}")
    ready = sum(pod.get("status", {}).get("phase") == "Running" and is_ready(pod) for pod in listed)
    return Proposal(_bounded(ratio * ready), usage)


def sum_of(figures: Iterable[int], *, negative_is_too_large: bool) -> int:
    """Return the sum of figures, at most the largest there is. Upstream takes a sum below zero for one that was too large
    where each pod is to have its part, and not elsewhere: a figure that lies takes no pods away there."""
    total = 0
    for figure in figures:
        total = min(_MOST, total + figure)
        if total < 0 and negative_is_too_large:
            return _MOST
    return total


def by_share(replicas: int, usage: int, target: int, tolerances: Tolerances) -> Proposal:
    """Return the proposal for one figure of which each pod is to have its part."""
    proposed = replicas
    if not replicas or not tolerances.holds(usage / (target * replicas)):
        proposed = _bounded(usage / target)
    return Proposal(proposed, math.ceil(usage / replicas) if replicas and usage < _MOST else usage)


def check_metrics(metrics: Mapping[str, PodMetric], groups: PodGroups) -> None:
    """Raise CannotCompute if none of the figures counts."""
    _counted(metrics, groups)


def check_pods(pods: list[Object]) -> None:
    """Raise CannotCompute if there are no pods to decide about."""
    if not pods:
        raise CannotCompute(_NO_PODS)
