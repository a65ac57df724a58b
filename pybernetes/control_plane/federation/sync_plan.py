"""What has to be done in one cluster for one federated object: a pure decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from pybernetes.api.resource import Object
from pybernetes.control_plane.federation import member_objects as objects
from pybernetes.control_plane.federation import propagation


class Action(Enum):
    """What is done to an object in a member; the value is the word for it in events."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RELEASE = "remove managed label from"


FAILED = {
    Action.CREATE: propagation.CREATION_FAILED,
    Action.UPDATE: propagation.UPDATE_FAILED,
    Action.DELETE: propagation.DELETION_FAILED,
    Action.RELEASE: propagation.LABEL_REMOVAL_FAILED,
}
TIMED_OUT = {
    Action.CREATE: propagation.CREATION_TIMED_OUT,
    Action.UPDATE: propagation.UPDATE_TIMED_OUT,
    Action.DELETE: propagation.DELETION_TIMED_OUT,
    Action.RELEASE: propagation.LABEL_REMOVAL_TIMED_OUT,
}


@dataclass(frozen=True)
class Applied:
    """What a cluster was given, and what came of it there."""

    wanted: str
    content: str


@dataclass(frozen=True)
class Seen:
    """What is known of an object in one cluster; one that is not readable may have it or not."""

    ready: bool = True
    readable: bool = True
    current: Object | None = None
    applied: Applied | None = None


@dataclass(frozen=True)
class Decision:
    """What to do in a cluster, and what the status says of it as long as nothing is done; None: nothing at all."""

    action: Action | None = None
    status: str | None = None


NOTHING = Decision()


def decide(seen: Seen, wanted: str | None, *, keeps: bool = False) -> Decision:
    """Return what to do in a cluster; ``wanted`` is a digest of what is to be there, None if nothing is.

    ``keeps`` says that the object is not ours to delete: a namespace of the host, or one that is to be orphaned.
    """
    if not seen.ready:
        return Decision(status=propagation.CLUSTER_NOT_READY) if wanted is not None else NOTHING
    if not seen.readable:
        return Decision(status=propagation.CACHED_RETRIEVAL_FAILED) if wanted is not None else NOTHING
    current = seen.current
    if current is None:
        return Decision(Action.CREATE) if wanted is not None else NOTHING
    if wanted is None and keeps:
        # Also if somebody deletes it: a namespace of the host goes only after the federated one that is inside of it.
        return Decision(Action.RELEASE)
    if objects.is_being_deleted(current):
        return Decision(status=propagation.WAITING_FOR_REMOVAL)
    if wanted is None:
        return Decision(Action.DELETE)
    if seen.applied == Applied(wanted, current[objects.CONTENT]):
        return Decision(status=propagation.OK)
    return Decision(Action.UPDATE)


def in_waves(decisions: Mapping[str, Decision], unfinished: int, most: int) -> dict[str, Decision]:
    """Return the decisions of which no more than some clusters are changed at once, first come by their names.

    ``unfinished`` clusters have the new template and do not run it yet. Creations are no changes: nothing runs there.
    """
    room = max(0, most - unfinished)
    result = dict(decisions)
    for name in sorted(decisions):
        if decisions[name].action is Action.UPDATE:
            if room:
                room -= 1
            else:
                result[name] = Decision(status=propagation.WAITING_FOR_ROLLOUT)
    return result


def wave_size(limit: object, clusters: int) -> int | None:
    """Return how many clusters may change at once; None for all. ValueError if the limit is none."""
    if limit is None:
        return None
    if isinstance(limit, str) and limit.endswith("%") and limit[:-1].isdecimal():
        return max(1, clusters * int(limit[:-1]) // 100)
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    raise ValueError(f"spec.rollout.maxClusters: {limit!r} is neither a number above zero nor a percentage")
