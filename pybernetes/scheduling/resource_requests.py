"""What a pod asks of a node, in whole numbers: thousandths of CPU, bytes, counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from pybernetes.api import quantity
from pybernetes.api.core.pod.pod_level_resources import is_restartable, supported_at_pod_level
from pybernetes.api.resource import Object

Amounts = dict[str, Fraction]

CPU, MEMORY, EPHEMERAL_STORAGE = 0, 1, 2
# What a container that asks for nothing counts as when nodes are compared: 0.1 CPU and 200 MB.
DEFAULT_CPU = 100
DEFAULT_MEMORY = 200 * 1024 * 1024
_MISSING: Amounts = {"cpu": Fraction(DEFAULT_CPU, 1000), "memory": Fraction(DEFAULT_MEMORY)}
_ZERO = Fraction(0)


# Of so many resources that only pods speak of is known which is which: each has a column, and pods may ask for anything.
_MOST_ASKED = 256
# What all others are to those who ask for them: nobody offers it.
_OTHER = "other resources"


class Resources:
    """Numbers every resource that nodes offer or pods ask for: the row of its column."""

    def __init__(self) -> None:
        self.names: list[str] = ["cpu", "memory", "ephemeral-storage"]
        self.ids: dict[str, int] = {name: number for number, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def id(self, name: str) -> int:
        """Return the number of a resource that a node offers, a new one if it was never seen."""
        number = self.ids.get(name)
        if number is None:
            number = self.ids[name] = len(self.names)
            self.names.append(name)
        return number

    def asked(self, name: str) -> int:
        """Return the number of a resource that a pod asks for; those that no node has offered have one in the end."""
        return self.id(name if name in self.ids or len(self.names) < _MOST_ASKED else _OTHER)


class Requests(NamedTuple):
    """What a pod takes from a node.

    ``cpu`` and ``memory`` are what it counts as when nodes are compared, with defaults where a container
    asks for nothing; ``score_cpu`` and ``score_memory`` leave out what is given for the pod as a whole.
    """

    amounts: tuple[tuple[int, int], ...]  # pairs of resource number and amount, none of them 0
    cpu: int
    memory: int
    score_cpu: int
    score_memory: int

    def amount(self, resource: int) -> int:
        """Return how much of one resource is requested."""
        for number, amount in self.amounts:
            if number == resource:
                return amount
        return 0


NOTHING = Requests((), 0, 0, 0, 0)


def is_scalar(name: str) -> bool:
    """Return whether a resource is counted in whole units besides CPU, memory and storage."""
    return "/" in name or name.startswith(("hugepages-", "attachable-volumes-"))


def is_extended(name: str) -> bool:
    """Return whether a resource belongs to somebody's device plugin rather than to Kubernetes."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


# More than any node has. Columns hold 64 bits: sums over thousands of pods and hundredfold shares of them must fit.
MOST = 1 << 50


def whole(name: str, amount: Fraction) -> int:
    """Return an amount in the unit that its resource is counted in, rounded up; beyond all measure it is ``MOST``."""
    if name == "cpu":
        amount *= 1000
    return min(MOST, -(-amount.numerator // amount.denominator))


def numbers(amounts: Mapping[str, Fraction], id_of: Callable[[str], int]) -> tuple[tuple[int, int], ...]:
    """Return the resources that count, as pairs of number and amount without zeros."""
    pairs: dict[int, int] = {}
    for name, amount in amounts.items():
        if name in ("cpu", "memory", "ephemeral-storage") or is_scalar(name):
            number = whole(name, amount)
            if number:
                place = id_of(name)
                pairs[place] = min(MOST, pairs.get(place, 0) + number)
    return tuple(sorted(pairs.items()))


def of_pod(spec: Object, status: Object | None, resources: Resources) -> Requests:
    """Return what a pod takes; with a status, what the kubelet has allocated counts too (a resize)."""
    total = _pod_requests(spec, status, {})
    level = spec.get("resources", {}).get("requests") or {}
    at_pod_level = any(supported_at_pod_level(name) for name in level)
    missing = {name: amount for name, amount in _MISSING.items() if not at_pod_level or name not in total}
    counted = _pod_requests(spec, status, missing) if missing else total
    containers = _aggregate(spec, _spec_amounts, None, False, _MISSING)
    _add(containers, _parse(spec.get("overhead")))
    return Requests(
        numbers(total, resources.asked),
        whole("cpu", counted.get("cpu", _ZERO)),
        whole("memory", counted.get("memory", _ZERO)),
        whole("cpu", containers.get("cpu", _ZERO)),
        whole("memory", containers.get("memory", _ZERO)),
    )


def has_status(status: Object) -> bool:
    """Return whether a status says anything about resources; that of a container without any is empty."""
    return (
        bool(status.get("resources") or status.get("allocatedResources"))
        or _is_infeasible(status)
        or any(
            container.get("resources") or "allocatedResources" in container
            for key in ("containerStatuses", "initContainerStatuses")
            for container in status.get(key) or ()
        )
    )


_Getter = Callable[[Object, "Object | None", bool], Amounts]


def _parse(amounts: Object | None) -> Amounts:
    return {name: quantity.parse(text) for name, text in amounts.items()} if amounts else {}


def _spec_amounts(container: Object, _status: Object | None, _infeasible: bool) -> Amounts:
    return _parse(container.get("resources", {}).get("requests"))


def _allocated_amounts(container: Object, status: Object | None, infeasible: bool) -> Amounts:
    if status is not None and status.get("allocatedResources") is not None:
        return _parse(status["allocatedResources"])
    return {} if infeasible else _spec_amounts(container, status, infeasible)


def _actuated_amounts(container: Object, status: Object | None, infeasible: bool) -> Amounts:
    given = (status or {}).get("resources") or {}
    if given.get("requests") is not None:
        return _parse(given["requests"])
    return _allocated_amounts(container, status, infeasible)


def _pod_requests(spec: Object, status: Object | None, missing: Amounts) -> Amounts:
    if status is None:
        total = _aggregate(spec, _spec_amounts, None, False, missing)
    else:
        total = _with_status(spec, status, missing)
    level = spec.get("resources", {}).get("requests") or {}
    if any(supported_at_pod_level(name) for name in level):
        amounts = _parse(level)
        if status is not None and status.get("resources"):
            amounts = {} if _is_infeasible(status) else amounts
            _max(amounts, _parse(status["resources"].get("requests")))
            _max(amounts, _parse(status.get("allocatedResources")))
        total.update({name: amount for name, amount in amounts.items() if supported_at_pod_level(name)})
    _add(total, _parse(spec.get("overhead")))
    return total


def _with_status(spec: Object, status: Object, missing: Amounts) -> Amounts:
    """Return the maximum of what is requested, allocated and in effect."""
    infeasible = _is_infeasible(status)
    given = (status.get("resources") or {}).get("requests")
    if status.get("allocatedResources") is not None and given is not None:
        allocated, actuated = _parse(status["allocatedResources"]), _parse(given)
    else:
        allocated = _aggregate(spec, _allocated_amounts, status, infeasible, missing)
        actuated = _aggregate(spec, _actuated_amounts, status, infeasible, missing)
    total = {} if infeasible else _aggregate(spec, _spec_amounts, None, False, missing)
    _max(total, actuated)
    _max(total, allocated)
    return total


def _is_infeasible(status: Object) -> bool:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodResizePending":
            return condition.get("reason") == "Infeasible"
    return False


def _aggregate(
    spec: Object, getter: _Getter, status: Object | None, infeasible: bool, missing: Amounts
) -> Amounts:
    """Return the sum over the containers that run side by side, or the largest init container's if that is more."""
    statuses = _statuses(status)

    def of(container: Object) -> Amounts:
        amounts = getter(container, statuses.get(container.get("name", "")), infeasible)
        for name, amount in missing.items():
            amounts.setdefault(name, amount)
        return amounts

    total: Amounts = {}
    for container in spec.get("containers", ()):
        _add(total, of(container))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers", ()):
        amounts = of(container)
        if is_restartable(dict(container)):
            _add(total, amounts)
            _add(sidecars, amounts)
            amounts = sidecars
        else:
            _add(amounts, sidecars)
        _max(peak, amounts)
    _max(total, peak)
    return total


def _statuses(status: Object | None) -> dict[str, Object]:
    statuses: dict[str, Object] = {}
    for key in ("initContainerStatuses", "containerStatuses"):
        containers: Iterable[Object] = (status or {}).get(key) or ()
        statuses.update({container.get("name", ""): container for container in containers})
    return statuses


def _add(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, _ZERO) + amount


def _max(total: Amounts, more: Amounts) -> None:
    for name, amount in more.items():
        if name not in total or amount > total[name]:
            total[name] = amount
