"""Which pods go first when there are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from math import log2
from typing import NamedTuple

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.pods import is_active, phase, ready_condition
from pybernetes.lib.rfc3339 import parse

_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class _Rank(NamedTuple):
    """A pod as the order sees it: ``first`` decides, then times that are told apart by their order of magnitude."""

    first: tuple[int, ...]
    ready: float  # since when, 0 if that is unknown or not so
    restarts: tuple[int, int]
    created: float
    uid: str
    pod: Object


def by_deletion(pods: Iterable[Object], related: Iterable[Object], now: float) -> list[Object]:
    """Sort pods into the order in which a set that is too large deletes them.

    Not assigned before assigned, pending before running, not ready before ready, cheap before dear, crowded nodes
    (counted over ``related`` pods) before others, then young before old and much restarted before steady.
    """
    crowd: dict[str, int] = {}
    for pod in related:
        if is_active(pod):
            node = pod["spec"].get("nodeName", "")
            crowd[node] = crowd.get(node, 0) + 1
    return _sorted((_rank(pod, crowd, True) for pod in pods), now)


def by_activity(pods: Iterable[Object]) -> list[Object]:
    """Sort pods with the least active first, the order in which jobs remove them."""
    return _sorted((_rank(pod, {}, False) for pod in pods), None)


def _rank(pod: Object, crowd: dict[str, int], costs: bool) -> _Rank:
    meta, node, ready = pod["metadata"], pod["spec"].get("nodeName", ""), ready_condition(pod)
    first: tuple[int, ...] = (bool(node), _PHASES.get(phase(pod), 0), ready is not None)
    if costs:
        first += (_cost(meta), -crowd.get(node, 0))
    since = ready.get("lastTransitionTime") if ready is not None else None
    created = meta.get("creationTimestamp")
    return _Rank(
        first, parse(since) if since else 0.0, _restarts(pod), parse(created) if created else 0.0,
        meta.get("uid", ""), pod,
    )  # fmt: skip


def _sorted(ranks: Iterable[_Rank], now: float | None) -> list[Object]:
    order: Callable[[_Rank, _Rank], int] = lambda a, b: _compare(a, b, now)  # noqa: E731
    return [rank.pod for rank in sorted(ranks, key=cmp_to_key(order))]


def _compare(a: _Rank, b: _Rank, now: float | None) -> int:
    if a.first != b.first:
        return -1 if a.first < b.first else 1
    if a.ready != b.ready:
        return _younger(a, b, a.ready, b.ready, now)
    if a.restarts != b.restarts:
        return -1 if a.restarts > b.restarts else 1
    if a.created != b.created:
        return _younger(a, b, a.created, b.created, now)
    return 0


def _younger(a: _Rank, b: _Rank, left: float, right: float, now: float | None) -> int:
    """Return a sort key that puts younger pods first, with ages rounded to their order of magnitude."""
    if now is None or not left or not right:
        return -1 if not left or (right and left > right) else 1
    difference = _magnitude(now - left) - _magnitude(now - right)
    if difference == 0:
        return -1 if a.uid < b.uid else 1
    return difference


def _magnitude(age: float) -> int:
    return int(log2(age * 1e9)) if age > 0 else -1


def _cost(meta: Object) -> int:
    text = (meta.get("annotations") or {}).get(_COST)
    try:
        return int(text) if text else 0
    except ValueError:
        return 0


def _restarts(pod: Object) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar."""
    status = pod.get("status", {})
    regular = max(
        (container.get("restartCount", 0) for container in status.get("containerStatuses") or ()), default=0
    )
    initial = status.get("initContainerStatuses")
    if not initial:
        return regular, 0
    names = {
        container["name"]
        for container in pod["spec"].get("initContainers") or ()
        if is_restartable(container)
    }
    return regular, max(
        (container.get("restartCount", 0) for container in initial if container["name"] in names), default=0
    )
