"""NodeResourcesFit: a node must have what a pod asks for, and is better the more (or the less) is left."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable

import numpy as np

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import names
from pybernetes.scheduling.cluster_events import ASSIGNED_POD, NODE, TARGET_POD, Action, Interest
from pybernetes.scheduling.columns import Ints, Rows
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.nodes import Node
from pybernetes.scheduling.plugin import MAX_SCORE, Extra, FilterPlugin, Scope, ScorePlugin
from pybernetes.scheduling.pods import Pod
from pybernetes.scheduling.resource_requests import CPU, MEMORY, is_extended, is_scalar
from pybernetes.scheduling.snapshot import Below

TOO_MANY_PODS = "Too many pods"
_PODS_BIT = 1
# Codes have 64 bits, with the sign: all resources from here on share one.
_LAST_BIT = 62


class NodeResourcesFit(FilterPlugin, ScorePlugin):
    """The code of a reason has a bit for the number of pods and one for each requested resource."""

    name = "NodeResourcesFit"
    points = ("preFilter", "filter", "preScore", "score")
    counts_amounts_only = True
    filter_scope = score_scope = Scope.NODE

    @classmethod
    def default_arguments(cls, given: Object) -> Object:
        strategy = dict(given.get("scoringStrategy") or {"type": "LeastAllocated"})
        strategy["resources"] = weighted(strategy.get("resources"))
        return {**given, "scoringStrategy": strategy}

    @classmethod
    def check_arguments(cls, arguments: Object, path: Path, errors: Errors) -> None:
        for index, name in enumerate(arguments.get("ignoredResources") or ()):
            for problem in names.qualified_name(name):
                errors.invalid((path / "ignoredResources")[index], name, problem)
        for index, group in enumerate(arguments.get("ignoredResourceGroups") or ()):
            where = (path / "ignoredResourceGroups")[index]
            if "/" in group:
                errors.invalid(where, group, "resource group name can't contain '/'")
            for problem in names.qualified_name(group):
                errors.invalid(where, group, problem)
        strategy, where = arguments.get("scoringStrategy"), path / "scoringStrategy"
        if strategy is None:
            return
        known = ["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
        if strategy.get("type") not in known:
            errors.unsupported(where / "type", strategy.get("type", ""), known)
        for index, resource in enumerate(strategy.get("resources") or ()):
            weight = resource.get("weight") or 1
            if not 0 < weight <= 100:
                text = f"resource weight of {resource.get('name')} not in valid range (0, 100]"
                errors.invalid((where / "resources")[index] / "weight", weight, text)
        ratio, at = strategy.get("requestedToCapacityRatio"), where / "requestedToCapacityRatio"
        if strategy.get("type") == "RequestedToCapacityRatio":
            if ratio is None:
                errors.required(at, "must be specified when type is RequestedToCapacityRatio")
            else:
                check_shape(ratio.get("shape") or [], at / "shape", errors)
        elif ratio is not None:
            errors.forbidden(at, "must be nil when type is not RequestedToCapacityRatio")

    def __init__(self, handle: Handle, arguments: Object) -> None:
        super().__init__(handle, arguments)
        self._ignored = frozenset(arguments.get("ignoredResources") or ())
        self._ignored_groups = frozenset(arguments.get("ignoredResourceGroups") or ())
        strategy = arguments["scoringStrategy"]
        self._resources = [(resource["name"], resource["weight"]) for resource in strategy["resources"]]
        self._rate, self._rate_row = _rate(strategy)
        self._rounds = strategy["type"] == "RequestedToCapacityRatio"

    def filter_key(self, pod: Pod) -> Hashable | None:
        return pod.shape.requests.amounts

    def filter(self, pod: Pod, rows: Rows) -> Ints:
        return self._filter(pod, rows, None)

    def filter_row(self, pod: Pod, row: int) -> int:
        snapshot = self.snapshot
        snapshot.deepen()
        code = _PODS_BIT if snapshot.pod_count.item(row) >= snapshot.allowed_pods.item(row) else 0
        sign = 1
        for bit, (number, amount) in enumerate(pod.shape.requests.amounts, 1):
            there = snapshot.allocatable.item(number, row)
            if there - snapshot.requested.item(number, row) < amount and not self._is_ignored(number):
                code |= 1 << min(bit, _LAST_BIT)
                if there < amount:
                    sign = -1
        return sign * code

    def filter_beside(self, pod: Pod, rows: Ints, extra: Extra) -> Ints | None:
        return self._filter(pod, rows, extra)

    def filter_without(self, pod: Pod, rows: Ints, below: Below, extra: Extra | None) -> Ints:
        """Do ``filter`` as if all pods below a priority were gone."""
        return self._filter(pod, rows, extra, below)

    def _filter(self, pod: Pod, rows: Rows, extra: Extra | None, below: Below | None = None) -> Ints:
        snapshot = self.snapshot
        snapshot.deepen()
        count = snapshot.pod_count[rows]
        if below is not None:
            count = count - below.pods[rows]
        if extra is not None:
            count = count + extra.pods
        codes = (count >= snapshot.allowed_pods[rows]) * _PODS_BIT
        hopeless = None
        for bit, (number, amount) in enumerate(pod.shape.requests.amounts, 1):
            if self._is_ignored(number):
                continue
            there = snapshot.allocatable[number, rows]
            free = there - snapshot.requested[number, rows]
            if below is not None and number in below.amounts:
                free = free + below.amounts[number][rows]
            if extra is not None and number in extra.amounts:
                free = free - extra.amounts[number]
            short = free < amount
            codes |= short.astype(np.int64) << min(bit, _LAST_BIT)
            never = there < amount
            hopeless = never if hopeless is None else hopeless | never
        if hopeless is not None:
            codes[hopeless] *= -1
        return codes

    def _is_ignored(self, number: int) -> bool:
        if not (self._ignored or self._ignored_groups):
            return False
        name = self.snapshot.resources.names[number]
        group = name.partition("/")[0]
        return is_extended(name) and (name in self._ignored or group in self._ignored_groups)

    def reasons(self, pod: Pod, code: int) -> tuple[str, ...]:
        bits = abs(code)
        reasons = [TOO_MANY_PODS] if bits & _PODS_BIT else []
        for bit, (number, _) in enumerate(pod.shape.requests.amounts, 1):
            if bit >= _LAST_BIT:  # which of them it is nobody has noted
                reasons += ["Insufficient resources"] if bits >> _LAST_BIT else []
                break
            if bits >> bit & 1:
                reasons.append(f"Insufficient {self.snapshot.resources.names[number]}")
        return tuple(reasons)

    # -- scoring -----------------------------------------------------------------------------------------

    def score_key(self, pod: Pod) -> Hashable | None:
        return pod.shape.requests

    def score(self, pod: Pod, rows: Rows) -> Ints:
        snapshot, requests = self.snapshot, pod.shape.requests
        size = len(snapshot.valid[rows])
        total, weights = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        for name, weight in self._resources:
            number = snapshot.resources.ids.get(name)
            if number is None or number >= len(snapshot.allocatable):
                continue
            if number == CPU:
                used = snapshot.counted[0, rows] + requests.score_cpu
            elif number == MEMORY:
                used = snapshot.counted[1, rows] + requests.score_memory
            else:
                amount = requests.amount(number)
                if amount == 0 and is_scalar(name):
                    continue
                used = snapshot.requested[number, rows] + amount
            there = snapshot.allocatable[number, rows]
            offered = there > 0
            score = self._rate(used, np.maximum(there, 1))
            if self._rounds:
                offered &= score > 0
            total += np.where(offered, score * weight, 0)
            weights += offered * weight
        divisor = np.maximum(weights, 1)
        if self._rounds:
            return np.floor(total / divisor + 0.5).astype(np.int64)
        return total // divisor

    def score_row(self, pod: Pod, row: int) -> int:
        snapshot, requests = self.snapshot, pod.shape.requests
        ids, allocatable = snapshot.resources.ids, snapshot.allocatable
        known, total, weights = len(allocatable), 0, 0
        for name, weight in self._resources:
            number = ids.get(name)
            if number is None or number >= known:
                continue
            there = allocatable.item(number, row)
            if number == CPU:
                used = snapshot.counted.item(0, row) + requests.score_cpu
            elif number == MEMORY:
                used = snapshot.counted.item(1, row) + requests.score_memory
            else:
                amount = requests.amount(number)
                if amount == 0 and is_scalar(name):
                    continue
                used = snapshot.requested.item(number, row) + amount
            if there > 0:
                score = self._rate_row(used, there)
                if score > 0 or not self._rounds:
                    total += score * weight
                    weights += weight
        if not weights:
            return 0
        return math.floor(total / weights + 0.5) if self._rounds else total // weights

    # -- events ------------------------------------------------------------------------------------------

    def interests(self) -> Iterable[Interest]:
        return (
            Interest(ASSIGNED_POD, Action.DELETE),
            Interest(NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, self._after_node),
            Interest(ASSIGNED_POD, Action.UPDATE_POD_SCALE_DOWN, self._after_scale_down),
            Interest(TARGET_POD, Action.UPDATE_POD_SCALE_DOWN),
        )

    def _after_node(self, pod: Pod, old: Node | None, new: Node) -> bool:
        there, before = dict(new.allocatable), dict(old.allocatable) if old is not None else {}
        wanted = pod.shape.requests.amounts
        if new.allowed_pods < 1 or any(
            there.get(number, 0) < amount for number, amount in wanted if not self._is_ignored(number)
        ):
            return False
        if old is None or new.allowed_pods > old.allowed_pods:
            return True
        return any(there.get(number, 0) > before.get(number, 0) for number, _ in wanted)

    def _after_scale_down(self, pod: Pod, old: Pod, new: Pod) -> bool:
        before, after = dict(old.requests.amounts), dict(new.requests.amounts)
        return any(before.get(number, 0) > after.get(number, 0) for number, _ in pod.shape.requests.amounts)


def _least(used: Ints, there: Ints) -> Ints:
    return np.where(used > there, 0, (there - used) * MAX_SCORE // there)


def _most(used: Ints, there: Ints) -> Ints:
    return np.minimum(used, there) * MAX_SCORE // there


def weighted(resources: list[Object] | None) -> list[Object]:
    """Return the resources that are scored, each with its weight; upstream's if none are given."""
    return [
        {"name": resource["name"], "weight": resource.get("weight") or 1}
        for resource in resources or ({"name": "cpu"}, {"name": "memory"})
    ]


def check_shape(shape: list[Object], path: Path, errors: Errors) -> None:
    """Collect what is wrong with the points of a shape."""
    if not shape:
        errors.required(path, "at least one point must be specified")
        return
    for index in range(1, len(shape)):
        if shape[index - 1].get("utilization", 0) >= shape[index].get("utilization", 0):
            where = path[index] / "utilization"
            errors.invalid(
                where, shape[index].get("utilization", 0), "values must be sorted in increasing order"
            )
            break
    for index, point in enumerate(shape):
        for name, most in (("utilization", 100), ("score", 10)):
            if not 0 <= point.get(name, 0) <= most:
                errors.invalid(path[index] / name, point[name], f"not in valid range [0, {most}]")


def shape_table(points: Iterable[dict[str, int]]) -> Ints:
    """Return the score for each percentage in use, interpolated between the points of a shape."""
    shape = [(point["utilization"], point["score"] * (MAX_SCORE // 10)) for point in points]
    table = []
    for percent in range(101):
        after = next((number for number, (use, _) in enumerate(shape) if percent <= use), None)
        if after is None:
            table.append(shape[-1][1])
        elif after == 0:
            table.append(shape[0][1])
        else:
            (left, low), (right, high) = shape[after - 1], shape[after]
            rise = (high - low) * (percent - left)
            # Whole numbers are cut towards zero, as Go divides.
            table.append(low + (abs(rise) // (right - left)) * (1 if rise >= 0 else -1))
    return np.array(table, dtype=np.int64)


def _least_row(used: int, there: int) -> int:
    return 0 if used > there else (there - used) * MAX_SCORE // there


def _most_row(used: int, there: int) -> int:
    return min(used, there) * MAX_SCORE // there


def _rate(strategy: Object) -> tuple[Callable[[Ints, Ints], Ints], Callable[[int, int], int]]:
    """Return the functions that score a used and an allocatable amount: one for columns, one for numbers."""
    if strategy["type"] == "LeastAllocated":
        return _least, _least_row
    if strategy["type"] == "MostAllocated":
        return _most, _most_row
    table = shape_table(strategy["requestedToCapacityRatio"]["shape"])
    return (
        lambda used, there: table[np.where(used > there, 100, used * 100 // there)],
        lambda used, there: int(table[100 if used > there else used * 100 // there]),
    )


PLUGIN = NodeResourcesFit
