"""The arithmetic of a rollout: how many pods each ReplicaSet is to have next."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.deployment.sets import (
    DESIRED,
    MAXIMUM,
    Set,
    is_rolling,
    max_surge,
    max_unavailable,
    note_size,
    noted,
    replicas_of,
)


def size_of_new(deployment: Object, new: Set, everything: list[Set]) -> int:
    """Return how many pods the new set may have now."""
    replicas = replicas_of(deployment)
    if not is_rolling(deployment) or new.replicas > replicas:
        return replicas
    room = replicas + max_surge(deployment) - sum(replica_set.replicas for replica_set in everything)
    return new.replicas + max(0, min(room, replicas - new.replicas))


def shrink_old(deployment: Object, new: Set, old: list[Set]) -> None:
    """Shrink old sets as far as enough pods stay available; unavailable pods go first."""
    old = [replica_set for replica_set in old if replica_set.replicas > 0]
    least = replicas_of(deployment) - max_unavailable(deployment)
    spare = sum(replica_set.replicas for replica_set in old) + new.replicas - least
    spare -= new.replicas - new.seen("availableReplicas")
    if not old or spare <= 0:
        return
    for replica_set in old:
        sick = min(spare, replica_set.replicas - replica_set.seen("availableReplicas"))
        if sick > 0:
            replica_set.replicas -= sick
            spare -= sick
    available = sum(replica_set.seen("availableReplicas") for replica_set in [*old, new])
    excess = available - least
    for replica_set in old:
        if excess <= 0:
            return
        taken = min(replica_set.replicas, excess)
        replica_set.replicas -= taken
        excess -= taken


def is_scaled(deployment: Object, sets: list[Set]) -> bool:
    """Return whether the number of pods asked for has changed since the sets were sized."""
    replicas = replicas_of(deployment)
    return any(
        replica_set.replicas > 0 and (known := noted(replica_set, DESIRED)) is not None and known != replicas
        for replica_set in sets
    )


def scale(deployment: Object, new: Set | None, old: list[Set]) -> None:
    """Bring the sets to a new total without moving the rollout on: replica_set gets its share."""
    replicas = replicas_of(deployment)
    everything = [*old, new] if new is not None else list(old)
    active = [replica_set for replica_set in everything if replica_set.replicas > 0]
    if len(active) <= 1:
        target = active[0] if active else new if new is not None else (old[-1] if old else None)
        if target is not None:
            target.replicas = replicas
        return
    if new is not None and _is_saturated(deployment, new):
        for replica_set in active:
            if replica_set is not new:
                replica_set.replicas = 0
        return
    if is_rolling(deployment):
        _spread(deployment, active)


def _is_saturated(deployment: Object, new: Set) -> bool:
    replicas = replicas_of(deployment)
    return new.replicas == noted(new, DESIRED) == new.seen("availableReplicas") == replicas


def _spread(deployment: Object, active: list[Set]) -> None:
    replicas = replicas_of(deployment)
    allowed = replicas + max_surge(deployment) if replicas else 0
    to_add = allowed - sum(replica_set.replicas for replica_set in active)
    # The largest first; of the same size the newer when growing and the older when shrinking.
    active = sorted(active, key=lambda replica_set: replica_set.age, reverse=to_add > 0)
    active.sort(key=lambda replica_set: -replica_set.replicas)
    added = 0
    sizes = []
    for replica_set in active:
        share = _share(deployment, replica_set, allowed)
        share = min(share, to_add - added) if to_add > 0 else max(share, to_add - added)
        sizes.append(replica_set.replicas + (share if to_add else 0))
        added += share if to_add else 0
    if to_add:
        sizes[0] = max(0, sizes[0] + to_add - added)
    for replica_set, size in zip(active, sizes, strict=True):
        replica_set.replicas = size
        note_size(deployment, replica_set)


def _share(deployment: Object, replica_set: Set, allowed: int) -> int:
    """Return how many more pods a set has if it stays the same part of the whole."""
    if not replicas_of(deployment):
        return -replica_set.replicas
    whole = noted(replica_set, MAXIMUM) or deployment.get("status", {}).get("replicas", 0)
    if not whole:
        return 0
    exact = replica_set.replicas * allowed / whole
    return int(exact + 0.5) - replica_set.replicas
