"""The arithmetic of a rollout: how many pods each ReplicaSet is to have next."""

from __future__ import annotations

from pybernetes.control_plane.controllers.deployment.sets import (
    DESIRED,
    MAXIMUM,
    Object,
    Set,
    is_rolling,
    max_surge,
    max_unavailable,
    note_size,
    noted,
    replicas_of,
)


def size_of_new(deployment: Object, new: Set, everything: list[Set]) -> int:
    """How many pods the new set may have now."""
    replicas = replicas_of(deployment)
    if not is_rolling(deployment) or new.replicas > replicas:
        return replicas
    room = replicas + max_surge(deployment) - sum(each.replicas for each in everything)
    return new.replicas + max(0, min(room, replicas - new.replicas))


def shrink_old(deployment: Object, new: Set, old: list[Set]) -> None:
    """Takes pods from old sets as far as enough stay available: those that are not available go first."""
    old = [each for each in old if each.replicas > 0]
    least = replicas_of(deployment) - max_unavailable(deployment)
    spare = sum(each.replicas for each in old) + new.replicas - least
    spare -= new.replicas - new.seen("availableReplicas")
    if not old or spare <= 0:
        return
    for each in old:
        sick = min(spare, each.replicas - each.seen("availableReplicas"))
        if sick > 0:
            each.replicas -= sick
            spare -= sick
    available = sum(each.seen("availableReplicas") for each in [*old, new])
    excess = available - least
    for each in old:
        if excess <= 0:
            return
        taken = min(each.replicas, excess)
        each.replicas -= taken
        excess -= taken


def is_scaled(deployment: Object, sets: list[Set]) -> bool:
    """Whether the number of pods asked for has changed since the sets were sized."""
    replicas = replicas_of(deployment)
    return any(
        each.replicas > 0 and (known := noted(each, DESIRED)) is not None and known != replicas
        for each in sets
    )


def scale(deployment: Object, new: Set | None, old: list[Set]) -> None:
    """Brings the sets to a new total without moving the rollout on: each gets its share."""
    replicas = replicas_of(deployment)
    everything = [*old, new] if new is not None else list(old)
    active = [each for each in everything if each.replicas > 0]
    if len(active) <= 1:
        target = active[0] if active else new if new is not None else (old[-1] if old else None)
        if target is not None:
            target.replicas = replicas
        return
    if new is not None and _is_saturated(deployment, new):
        for each in active:
            if each is not new:
                each.replicas = 0
        return
    if is_rolling(deployment):
        _spread(deployment, active)


def _is_saturated(deployment: Object, new: Set) -> bool:
    replicas = replicas_of(deployment)
    return new.replicas == noted(new, DESIRED) == new.seen("availableReplicas") == replicas


def _spread(deployment: Object, active: list[Set]) -> None:
    replicas = replicas_of(deployment)
    allowed = replicas + max_surge(deployment) if replicas else 0
    to_add = allowed - sum(each.replicas for each in active)
    # The largest first; of the same size the newer when growing and the older when shrinking.
    active = sorted(active, key=lambda each: each.age, reverse=to_add > 0)
    active.sort(key=lambda each: -each.replicas)
    added = 0
    sizes = []
    for each in active:
        share = _share(deployment, each, allowed)
        share = min(share, to_add - added) if to_add > 0 else max(share, to_add - added)
        sizes.append(each.replicas + (share if to_add else 0))
        added += share if to_add else 0
    if to_add:
        sizes[0] = max(0, sizes[0] + to_add - added)
    for each, size in zip(active, sizes, strict=True):
        each.replicas = size
        note_size(deployment, each)


def _share(deployment: Object, each: Set, allowed: int) -> int:
    """How many more pods a set has if it stays the same part of the whole."""
    if not replicas_of(deployment):
        return -each.replicas
    whole = noted(each, MAXIMUM) or deployment.get("status", {}).get("replicas", 0)
    if not whole:
        return 0
    exact = each.replicas * allowed / whole
    return int(exact + 0.5) - each.replicas
