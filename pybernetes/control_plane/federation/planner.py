"""How many replicas each cluster gets: by weight, between a minimum and a maximum, and by what fits.

The same numbers as kubefed's planner has, for the same question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object

EVERY = "*"
_FNV_OFFSET, _FNV_PRIME, _FNV_BITS = 2166136261, 16777619, 0xFFFFFFFF


@dataclass(frozen=True)
class Preference:
    """What is preferred for one cluster."""

    weight: int = 0
    least: int = 0
    most: int | None = None


@dataclass(frozen=True)
class Question:
    """What is to be planned. ``current`` has replicas that run, ``capacity`` what fits, where that is known."""

    total: int
    preferences: Mapping[str, Preference]
    clusters: Iterable[str]
    rebalance: bool = False
    current: Mapping[str, int] = field(default_factory=dict)
    capacity: Mapping[str, int] = field(default_factory=dict)
    key: str = ""  # makes that single replicas of different objects do not all go to one cluster


@dataclass(frozen=True)
class Plan:
    """Replicas that clusters can run, and those beyond that which would better be there if there was room."""

    replicas: dict[str, int]
    overflow: dict[str, int]

    def wanted(self) -> dict[str, int]:
        """Return how many replicas every cluster is asked for: those that wait for room are among them."""
        return {name: count + self.overflow.get(name, 0) for name, count in self.replicas.items()}


def preferences_of(spec: Object) -> dict[str, Preference]:
    """Return what a ReplicaSchedulingPreference prefers; nothing said means all alike."""
    rows: Mapping[str, Object] = spec.get("clusters") or {EVERY: {"weight": 1}}
    return {
        name: Preference(row.get("weight", 0), row.get("minReplicas", 0), row.get("maxReplicas"))
        for name, row in rows.items()
    }


def plan(question: Question) -> Plan:
    """Return where replicas go."""
    replicas: dict[str, int] = {}
    chosen: list[tuple[str, Preference]] = []
    for name in question.clusters:
        preference = question.preferences.get(name) or question.preferences.get(EVERY)
        if preference is None:
            replicas[name] = 0
        else:
            chosen.append((name, preference))
    chosen.sort(key=lambda entry: (-entry[1].weight, _hash(entry[0] + question.key)))
    left = question.total
    for name, preference in chosen:
        count = min(preference.least, left, question.capacity.get(name, left))
        replicas[name] = count
        left -= count
    kept = {} if question.rebalance else _keep(question, chosen, replicas, left)
    left -= sum(kept.values())
    left, overflow = _distribute(question, chosen, replicas, kept, left)
    if not question.rebalance:
        # What runs stays where it is: only what found no place anywhere waits for room.
        overflow = {name: min(count, left) for name, count in overflow.items() if min(count, left) > 0}
    return Plan(replicas, overflow)


def _keep(
    question: Question, chosen: list[tuple[str, Preference]], replicas: dict[str, int], left: int
) -> dict[str, int]:
    """Keep replicas where they run; return how many clusters have beyond their minimum because of that."""
    kept: dict[str, int] = {}
    for name, preference in chosen:
        planned, target = replicas[name], question.current.get(name, 0)
        if target <= planned:
            continue
        if preference.most is not None:
            target = min(target, preference.most)
        target = min(target, question.capacity.get(name, target))
        extra = max(0, min(target - planned, left))
        left -= extra
        kept[name] = extra
        replicas[name] = planned + extra
    return kept


def _distribute(
    question: Question, chosen: list[tuple[str, Preference]], replicas: dict[str, int], kept: dict[str, int], left: int
) -> tuple[int, dict[str, int]]:  # fmt: skip
    """Distribute what is left by weight, in rounds, since clusters fill up; return what is left then, and the overflow."""
    overflow: dict[str, int] = {}
    changed = True
    while changed and left > 0:
        changed = False
        total_weight = sum(preference.weight for _, preference in chosen)
        if not total_weight:
            break
        share, going_on = left, []
        for name, preference in chosen:
            start = replicas[name]
            extra = min(-(-share * preference.weight // total_weight), left)
            used = min(extra, kept.get(name, 0))  # what was kept counts as given
            if used:
                kept[name] -= used
                extra -= used
                changed = True
            total, full = start + extra, False
            if preference.most is not None and total > preference.most:
                total, full = preference.most, True
            capacity = question.capacity.get(name)
            if capacity is not None and total > capacity:
                overflow[name] = total - capacity
                total, full = capacity, True
            if not full:
                going_on.append((name, preference))
            left -= total - start
            replicas[name] = total
            changed = changed or total > start
        chosen = going_on
    return left, overflow


def _hash(text: str) -> int:
    """Return the FNV-1 hash of a text."""
    value = _FNV_OFFSET
    for byte in text.encode():
        value = (value * _FNV_PRIME & _FNV_BITS) ^ byte
    return value
