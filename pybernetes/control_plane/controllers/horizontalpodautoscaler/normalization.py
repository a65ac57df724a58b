"""How fast the number of replicas may change: limits, policies and windows. Pure but for what it remembers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pybernetes.api.resource import Object

_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_TOO_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_UP_LIMIT = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_DOWN_LIMIT = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_READY = ("ReadyForNewScale", "recommended size matches current size")
_UP_STABLE = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_DOWN_STABLE = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)


class Reason(NamedTuple):
    """Reason and message of a condition."""

    reason: str
    message: str


class Normalized(NamedTuple):
    """What may be done now, and what the conditions AbleToScale and ScalingLimited say about it."""

    replicas: int
    able: Reason
    limited: bool
    limit: Reason


class Moment(NamedTuple):
    """A number of replicas, and when that was: a recommendation, or by how many they changed."""

    replicas: int
    time: float


@dataclass
class History:
    """What is remembered of one autoscaler."""

    recommendations: list[Moment] = field(default_factory=list)
    ups: list[Moment] = field(default_factory=list)
    downs: list[Moment] = field(default_factory=list)

    def begin(self, current: int, now: float) -> None:
        """Remember how many replicas there are when nothing is remembered yet."""
        if not self.recommendations:
            self.recommendations = [Moment(current, now)]

    def scaled(self, behavior: Object | None, before: int, after: int, now: float) -> None:
        """Remember a change, for as long as a policy looks back."""
        if not behavior:
            return
        up = after > before
        periods = [
            policy["periodSeconds"]
            for policy in (behavior["scaleUp" if up else "scaleDown"].get("policies") or ())
        ]
        cutoff = now - max(periods, default=0)
        _remember(self.ups if up else self.downs, Moment(abs(after - before), now), cutoff)


def normalize(
    history: History, current: int, desired: int, least: int, most: int, behavior: Object | None, window: float, now: float
) -> Normalized:  # fmt: skip
    """Return what may be done now of what is desired, and remember the desire."""
    if not behavior:
        cutoff = now - window
        stable = max([desired, *(old.replicas for old in history.recommendations if old.time >= cutoff)])
        able = Reason(*_DOWN_STABLE) if stable != desired else Reason(*_READY)
        _remember(history.recommendations, Moment(desired, now), cutoff)
        replicas, limit = by_rules(current, stable, least, most)
    else:
        stable, why = _stabilized(history, current, desired, behavior, window, now)
        able = why if stable != desired else Reason(*_READY)
        replicas, limit = _by_behavior(history, current, stable, least, most, behavior, now)
    return Normalized(replicas, able, replicas != stable, limit)


def _remember(moments: list[Moment], new: Moment, cutoff: float) -> None:
    """Put a moment in the place of the last one that is too old. Others stay, as upstream has it: they still count where
    something looks further back, a policy of the other direction or a window that was made longer."""
    too_old = [number for number, moment in enumerate(moments) if moment.time < cutoff]
    if too_old:
        moments[too_old[-1]] = new
    else:
        moments.append(new)


def by_rules(current: int, desired: int, least: int, most: int) -> tuple[int, Reason]:
    """Return the replicas within the limits of an autoscaler without a behaviour of its own."""
    limit = max(2 * current, 4)
    allowed, reason = (limit, _UP_LIMIT) if most > limit else (most, _TOO_MANY)
    if desired < least:
        return least, Reason(*_TOO_FEW)
    if desired > allowed:
        return allowed, Reason(*reason)
    return desired, Reason(*_WITHIN)


def _stabilized(
    history: History, current: int, desired: int, behavior: Object, window: float, now: float
) -> tuple[int, Reason]:
    up_cutoff = now - (behavior["scaleUp"].get("stabilizationWindowSeconds") or 0)
    down_seconds = behavior["scaleDown"].get("stabilizationWindowSeconds")
    down_cutoff = now - (window if down_seconds is None else down_seconds)
    old = history.recommendations
    up = min([desired, *(moment.replicas for moment in old if moment.time > up_cutoff)])
    down = max([desired, *(moment.replicas for moment in old if moment.time > down_cutoff)])
    _remember(old, Moment(desired, now), min(up_cutoff, down_cutoff))
    result = min(max(current, up), down)
    return result, Reason(*(_UP_STABLE if desired >= current else _DOWN_STABLE))


def _by_behavior(
    history: History, current: int, desired: int, least: int, most: int, behavior: Object, now: float
) -> tuple[int, Reason]:
    if desired > current:
        limit = max(current, _limit(history, current, behavior["scaleUp"], now, up=True))
        allowed, reason = (limit, _UP_LIMIT) if most > limit else (most, _TOO_MANY)
        if desired > allowed:
            return allowed, Reason(*reason)
    elif desired < current:
        limit = min(current, _limit(history, current, behavior["scaleDown"], now, up=False))
        allowed, reason = (limit, _DOWN_LIMIT) if least < limit else (least, _TOO_FEW)
        if desired < allowed:
            return allowed, Reason(*reason)
    return desired, Reason(*_WITHIN)


def _limit(history: History, current: int, rules: Object, now: float, *, up: bool) -> int:
    """Return how far the policies of one direction let the number of replicas go."""
    select = rules.get("selectPolicy", "Max")
    if select == "Disabled":
        return current
    proposals = []
    for policy in rules.get("policies") or ():
        cutoff = now - policy["periodSeconds"]
        begun = current - _changed(history.ups, cutoff) + _changed(history.downs, cutoff)
        value = policy["value"]
        if policy["type"] == "Pods":
            proposals.append(begun + value if up else begun - value)
        elif up:
            proposals.append(math.ceil(begun * (1 + value / 100)))
        else:
            proposals.append(int(begun * (1 - value / 100)))
    # The largest change is the highest number on the way up, and the lowest on the way down.
    highest = (select != "Min") if up else (select == "Min")
    return (max if highest else min)(proposals, default=current)


def _changed(changes: Iterable[Moment], cutoff: float) -> int:
    return sum(change.replicas for change in changes if change.time > cutoff)
