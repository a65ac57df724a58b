"""For whom an endpoint is meant: hints that keep traffic near where it starts. Pure but for what ``Topology`` keeps.

A service asks for them with ``spec.trafficDistribution``, or with the older annotation ``topology-mode: Auto``, which
shares endpoints among zones by their processors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects.pods import is_ready
from pybernetes.control_plane.controllers.endpointslice.plan import ZONE, Plan

NEAR = ("PreferClose", "PreferSameZone", "PreferSameNode")
_ANNOTATIONS = ("service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode")
_EXCLUDED = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_OVERLOAD = 0.2
Event = tuple[str, str, str]  # type, reason, message


def is_auto(service: Object) -> bool:
    """Return whether a service asks for hints by its annotation."""
    annotations = service["metadata"].get("annotations") or {}
    for name in _ANNOTATIONS:
        if name in annotations:
            return annotations[name] in ("Auto", "auto")
    return False


def distribution(service: Object) -> str:
    """Return the traffic distribution of a service, or an empty string."""
    wanted = service["spec"].get("trafficDistribution") or ""
    return wanted if wanted in NEAR and not is_auto(service) else ""


def _is_ready(endpoint: Object) -> bool:
    return bool((endpoint.get("conditions") or {}).get("ready"))


def near_hints(endpoint: Object, wanted: str) -> Object | None:
    """Return the hints of an endpoint under a traffic distribution."""
    if not _is_ready(endpoint):
        return endpoint.get("hints")
    hints: Object = {}
    if endpoint.get("zone"):
        hints["forZones"] = [{"name": endpoint["zone"]}]
    if wanted == "PreferSameNode" and endpoint.get("nodeName"):
        hints["forNodes"] = [{"name": endpoint["nodeName"]}]
    return hints or None


def set_near(plan: Plan, wanted: str) -> None:
    """Give every endpoint the hints of a traffic distribution, or none if that is empty."""
    for slice_ in [*plan.create, *plan.update]:
        slice_["endpoints"] = [
            _with(endpoint, near_hints(endpoint, wanted) if wanted else None)
            for endpoint in slice_["endpoints"]
        ]
    for slice_ in list(plan.unchanged):
        before = slice_.get("endpoints") or []
        after = [_with(endpoint, near_hints(endpoint, wanted) if wanted else None) for endpoint in before]
        if after != before:
            plan.unchanged.remove(slice_)
            plan.update.append({**slice_, "endpoints": after})


def _with(endpoint: Object, hints: Object | None) -> Object:
    if endpoint.get("hints") == hints:
        return endpoint
    rest = {name: value for name, value in endpoint.items() if name != "hints"}
    return {**rest, "hints": hints} if hints else rest


class Processors:
    """The part of the cluster's processors that each zone has, kept up to date node by node."""

    def __init__(self) -> None:
        self._zones: dict[str, Fraction] = {}
        self._nodes: Counter[str] = Counter()
        self._unknown = 0  # nodes of which the zone or the processors are not known

    def change(self, old: Object | None, new: Object | None) -> None:
        """Record that a node came, changed or went."""
        for node, sign in ((old, -1), (new, 1)):
            if node is None or (processors := _processors(node)) is None:
                continue
            zone, amount = processors
            if not zone or not amount:
                self._unknown += sign
                continue
            self._zones[zone] = self._zones.get(zone, Fraction()) + sign * amount
            self._nodes[zone] += sign
            if not self._nodes[zone]:
                del self._zones[zone], self._nodes[zone]

    def shares(self) -> dict[str, float] | None:
        """Return the share of each zone; None if it is known for fewer than two zones."""
        if self._unknown or len(self._zones) < 2:
            return None
        total = sum(self._zones.values())
        return {zone: float(value / total) for zone, value in self._zones.items()}


def _processors(node: Object) -> tuple[str, Fraction] | None:
    """Return the zone and the processors of a node, or None if it does not count."""
    labels = node["metadata"].get("labels") or {}
    if any(name in labels for name in _EXCLUDED) or not is_ready(node):
        return None
    amount = quantity.parse(((node.get("status") or {}).get("allocatable") or {}).get("cpu", "0"))
    return labels.get(ZONE) or "", Fraction(amount)


def allocations(shares: Mapping[str, float], count: int) -> tuple[dict[str, tuple[int, float]], str]:
    """Return for each zone the most endpoints it may have and how many it should, or why there are none."""
    if len(shares) > count:
        return {}, f"Insufficient number of endpoints ({count} endpoints, {len(shares)} zones)"
    least = {zone: math.ceil(share * count / (1 + _OVERLOAD)) for zone, share in shares.items()}
    total = sum(least.values())
    if total > count:
        why = (
            "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold"
        )
        return {}, f"{why} ({count} endpoints, {len(shares)} zones)"
    return {
        zone: (least[zone] + count - total, max(share * count, float(least[zone])))
        for zone, share in shares.items()
    }, ""


def moves(
    wanted: Mapping[str, tuple[int, float]], have: Mapping[str, int]
) -> tuple[Counter[str], Counter[str]]:
    """Return how many endpoints each zone gives to others, and how many each gets."""
    surplus = {zone: have.get(zone, 0) - target for zone, (_, target) in wanted.items()}
    giving: Counter[str] = Counter()
    receiving: Counter[str] = Counter()
    while surplus:
        giver = max(surplus, key=lambda zone: surplus[zone])
        taker = min(surplus, key=lambda zone: surplus[zone])
        give, take = surplus[giver], -surplus[taker]
        if give < 0.5 or take < 0.5 or (give < 1 and take < 1):
            break
        giving[giver] += 1
        receiving[taker] += 1
        surplus[giver] -= 1
        surplus[taker] += 1
    return giving, receiving


class Topology:
    """Hints by zone for services that ask with the annotation; remembers what it gave, to see it go wrong."""

    def __init__(self) -> None:
        self.processors = Processors()
        self._given: dict[str, dict[str, Counter[str]]] = {}

    def overloaded(self) -> list[str]:
        """Return the services whose hints no longer fit the nodes."""
        if not self._given:
            return []
        shares = self.processors.shares() or {}
        return [
            key
            for key, families in self._given.items()
            if any(_is_overloaded(zones, shares) for zones in families.values())
        ]

    def forget(self, key: str, family: str = "") -> bool:
        """Forget a service; return whether anything was known of it."""
        families = self._given.get(key)
        if families is None:
            return False
        if family:
            families.pop(family, None)
        if not family or not families:
            del self._given[key]
        return True

    def apply(self, key: str, family: str, service: Object, plan: Plan) -> list[Event]:
        """Set the hints of a plan; return the events to report."""
        if not is_auto(service):
            had = self.forget(key, family)
            set_near(plan, distribution(service))
            return [_disabled("Topology Aware Hints has been disabled", family)] if had else []
        why = self._allocate(key, family, plan)
        if why == "enabled":
            return [("Normal", "TopologyAwareHintsEnabled", f"Topology Aware Hints has been enabled, addressType: {family}")]  # fmt: skip
        if why:
            self.forget(key, family)
            set_near(plan, "")
            return [_disabled(why, family)]
        return []

    def _allocate(self, key: str, family: str, plan: Plan) -> str:
        """Set hints; return why that is impossible, or ``enabled`` if it was done for the first time."""
        everything = [*plan.create, *plan.update, *plan.unchanged]
        ready = [
            endpoint
            for slice_ in everything
            for endpoint in slice_.get("endpoints") or ()
            if _is_ready(endpoint)
        ]
        shares = self.processors.shares()
        if shares is None:
            return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
        wanted, why = allocations(shares, len(ready))
        if why:
            return why
        if any(not endpoint.get("zone") for endpoint in ready):
            return "One or more endpoints do not have a zone specified"
        have: Counter[str] = Counter()
        for slice_ in list(plan.unchanged):
            valid = _valid_hints(slice_, have, wanted)
            if valid is None:
                plan.unchanged.remove(slice_)
                plan.update.append({**slice_, "endpoints": list(slice_.get("endpoints") or [])})
            else:
                have += valid
        changing = [*plan.create, *plan.update]
        for slice_ in changing:
            have.update(endpoint["zone"] for endpoint in slice_["endpoints"] if _is_ready(endpoint))
        giving, receiving = moves(wanted, have)
        for slice_ in changing:
            slice_["endpoints"] = [
                _assign(endpoint, giving, receiving, have) for endpoint in slice_["endpoints"]
            ]
        if not have:
            return "No hints allocated for zones"
        first = key not in self._given
        self._given.setdefault(key, {})[family] = have
        return "enabled" if first else ""


def _assign(endpoint: Object, giving: Counter[str], receiving: Counter[str], have: Counter[str]) -> Object:
    """Return an endpoint with a hint for its own zone, or for one that it is given to."""
    if not _is_ready(endpoint):
        return _with(endpoint, None)
    zone = target = endpoint["zone"]
    if giving[zone] > 0:
        target = next((name for name, count in receiving.items() if count > 0), zone)
        if target != zone:
            giving[zone] -= 1
            receiving[target] -= 1
            have[zone] -= 1
            have[target] += 1
    return _with(endpoint, {"forZones": [{"name": target}]})


def _valid_hints(
    slice_: Object, have: Counter[str], wanted: Mapping[str, tuple[int, float]]
) -> Counter[str] | None:
    """Return the number of hints of a slice by zone, or None if they are invalid."""
    counts: Counter[str] = Counter()
    for endpoint in slice_.get("endpoints") or ():
        if not _is_ready(endpoint):
            continue
        zones = [hint["name"] for hint in (endpoint.get("hints") or {}).get("forZones") or ()]
        if not zones or any(zone not in wanted for zone in zones):
            return None
        counts.update(zones)
    if any(count + have[zone] > wanted[zone][0] for zone, count in counts.items()):
        return None
    return counts


def _is_overloaded(zones: Mapping[str, int], shares: Mapping[str, float]) -> bool:
    if not zones:
        return False
    total = sum(zones.values())
    return not shares or any(
        zone not in zones or zones[zone] < math.ceil(total * share / (1 + _OVERLOAD))
        for zone, share in shares.items()
    )


def _disabled(why: str, family: str) -> Event:
    return "Warning", "TopologyAwareHintsDisabled", f"{why}, addressType: {family}"
