"""NodeResourcesBalancedAllocation: better where a pod makes the shares in use of CPU and memory more alike."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.plugin import MAX_SCORE, Scope, ScorePlugin
from pybernetes.scheduling.plugins.node_resources_fit import weighted
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.resource_requests import is_scalar

Floats = NDArray[np.float64]


class NodeResourcesBalancedAllocation(ScorePlugin):
    """Does not score pods that request nothing: they would all go to one node."""

    name = "NodeResourcesBalancedAllocation"
    points = ("preScore", "score")
    score_scope = Scope.NODE

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        return {**given, "resources": weighted(given.get("resources"))}

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        seen: set[str] = set()
        for index, resource in enumerate(arguments.get("resources") or ()):
            where = (path / "resources")[index]
            if resource.get("name") in seen:
                errors.duplicate(where / "name", resource.get("name"))
            seen.add(resource.get("name", ""))
            if (resource.get("weight") or 1) != 1:
                errors.invalid(where / "weight", resource["weight"], "must be 1")

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self._names = [resource["name"] for resource in arguments["resources"]]

    def score_key(self, pod: Pod) -> Hashable | None:
        amounts = pod.shape.requests.amounts
        names = self.snapshot.resources.names
        return amounts if any(names[number] in self._names for number, _ in amounts) else None

    def score(self, pod: Pod, rows: Rows) -> Ints:
        snapshot = self.snapshot
        before: list[Floats] = []
        after: list[Floats] = []
        offered: list[NDArray[np.bool_]] = []
        for name in self._names:
            number = snapshot.resources.ids.get(name)
            if number is None or number >= len(snapshot.allocatable):
                continue
            amount = pod.shape.requests.amount(number)
            if amount == 0 and is_scalar(name):
                continue
            there = snapshot.allocatable[number, rows]
            used = snapshot.requested[number, rows]
            divisor = np.maximum(there, 1)
            before.append(np.minimum(used / divisor, 1.0))
            after.append(np.minimum((used + amount) / divisor, 1.0))
            offered.append(there > 0)
        gain = _balance(after, offered) - _balance(before, offered)
        return MAX_SCORE // 2 + _half(MAX_SCORE // 2 + gain)

    def score_row(self, pod: Pod, row: int) -> int:
        snapshot, amount_of = self.snapshot, pod.shape.requests.amount
        ids, allocatable, requested = snapshot.resources.ids, snapshot.allocatable, snapshot.requested
        known = len(allocatable)
        before: list[float] = []
        after: list[float] = []
        for name in self._names:
            number = ids.get(name)
            if number is None or number >= known:
                continue
            amount = amount_of(number)
            there = allocatable.item(number, row)
            if there == 0 or (amount == 0 and is_scalar(name)):
                continue
            used = requested.item(number, row)
            before.append(min(used / there, 1.0))
            after.append(min((used + amount) / there, 1.0))
        return MAX_SCORE // 2 + int((MAX_SCORE // 2 + _balance_row(after) - _balance_row(before)) / 2)


def _balance_row(shares: list[float]) -> int:
    count = len(shares)
    if count == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif count > 2:
        mean = sum(shares) / count
        deviation = math.sqrt(sum((share - mean) * (share - mean) for share in shares) / count)
    else:
        deviation = 0.0
    return int((1 - deviation) * MAX_SCORE)


def _half(number: Ints) -> Ints:
    """Halve a number, cut towards zero as Go divides."""
    return np.sign(number) * (np.abs(number) // 2)


def _balance(shares: list[Floats], offered: list[NDArray[np.bool_]]) -> Ints:
    """Return 100 less the standard deviation of the percentages in use."""
    if len(shares) == 2 and all(allocatable.all() for allocatable in offered):
        deviation = np.abs((shares[0] - shares[1]) / 2)
        return ((1 - deviation) * MAX_SCORE).astype(np.int64)
    count = np.maximum(np.sum(offered, axis=0), 1)
    pairs = list(zip(shares, offered, strict=True))
    mean = sum(np.where(there, share, 0.0) for share, there in pairs) / count
    squares = sum(np.where(there, (share - mean) * (share - mean), 0.0) for share, there in pairs)
    highest = np.max([np.where(there, share, -np.inf) for share, there in pairs], axis=0)
    lowest = np.min([np.where(there, share, np.inf) for share, there in pairs], axis=0)
    # Of two it is half of the difference, which is exact.
    deviation = np.where(
        count > 2, np.sqrt(squares / count), np.where(count == 2, (highest - lowest) / 2, 0.0)
    )
    return ((1 - deviation) * MAX_SCORE).astype(np.int64)


PLUGIN = NodeResourcesBalancedAllocation
