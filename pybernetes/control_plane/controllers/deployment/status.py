"""What a Deployment's status says, from what its ReplicaSets say."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers._workload.workload_controller import counts
from pybernetes.control_plane.controllers.deployment.sets import Set, max_unavailable, replicas_of
from pybernetes.lib import rfc3339

_FOREVER = 2**31 - 1


def has_deadline(deployment: Object) -> bool:
    """Return whether a rollout has a progress deadline."""
    return deployment["spec"].get("progressDeadlineSeconds", _FOREVER) != _FOREVER


def condition(type_: str, status: str, reason: str, message: str, now: float) -> Object:
    """Return a new condition; Deployments also have lastUpdateTime."""
    return {
        **conditions.condition(type_, status, reason, message, now),
        "lastUpdateTime": rfc3339.seconds(now),
    }


def progressing(list_: list[Object], status: str, reason: str, message: str, now: float) -> list[Object]:
    """Return the conditions with a new condition Progressing."""
    return conditions.with_condition(list_, condition("Progressing", status, reason, message, now))


def calculate(deployment: Object, list_: list[Object], new: Set | None, old: list[Set], now: float) -> Object:
    """Return the counts and the condition Available; the other conditions are taken as they are."""
    sets = [*old, new] if new is not None else old
    available = sum(replica_set.seen("availableReplicas") for replica_set in sets)
    total = sum(replica_set.replicas for replica_set in sets)
    status: Object = dict(
        counts(
            {},
            observedGeneration=deployment["metadata"].get("generation", 0),
            replicas=sum(replica_set.seen("replicas") for replica_set in sets),
            updatedReplicas=new.seen("replicas") if new is not None else 0,
            readyReplicas=sum(replica_set.seen("readyReplicas") for replica_set in sets),
            availableReplicas=available,
            unavailableReplicas=max(0, total - available),
        )
    )
    terminating = _terminating(sets)
    if terminating is not None:
        status["terminatingReplicas"] = terminating
    if "collisionCount" in deployment.get("status", {}):
        status["collisionCount"] = deployment["status"]["collisionCount"]
    if available >= replicas_of(deployment) - max_unavailable(deployment):
        word = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        word = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    status["conditions"] = conditions.with_condition(list_, condition("Available", *word, now))
    return status


def _terminating(sets: list[Set]) -> int | None:
    """Return the sum of terminating pods, or None if a set does not report it."""
    total = 0
    for replica_set in sets:
        status = replica_set.obj.get("status", {})
        if "terminatingReplicas" in status:
            total += status["terminatingReplicas"]
        elif status.get("observedGeneration"):
            return None
    return total


def is_complete(deployment: Object, status: Object) -> bool:
    """Return whether all pods are new and available, and no old ones are left."""
    replicas = replicas_of(deployment)
    return (
        status.get("updatedReplicas", 0) == replicas
        and status.get("replicas", 0) == replicas
        and status.get("availableReplicas", 0) == replicas
        and status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    )


def _has_progressed(before: Object, after: Object) -> bool:
    def old_pods(status: Object) -> int:
        return status.get("replicas", 0) - status.get("updatedReplicas", 0)

    return old_pods(after) < old_pods(before) or any(
        after.get(count, 0) > before.get(count, 0)
        for count in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def _is_late(deployment: Object, known: Object | None, now: float) -> bool:
    if known is None or known.get("reason") == "NewReplicaSetAvailable":
        return False
    if known.get("reason") == "ProgressDeadlineExceeded":
        return True
    since = rfc3339.parse(known["lastUpdateTime"]) if "lastUpdateTime" in known else 0.0
    return since + deployment["spec"]["progressDeadlineSeconds"] < now


def with_progress(deployment: Object, status: Object, new: Set | None, old: list[Set], now: float) -> Object:
    """Return the status with the conditions Progressing and ReplicaFailure."""
    list_ = status["conditions"]
    before = deployment.get("status", {})
    known = conditions.find(list_, "Progressing")
    subject = (
        f'ReplicaSet "{new.name}"' if new is not None else f'Deployment "{deployment["metadata"]["name"]}"'
    )
    if not has_deadline(deployment):
        list_ = conditions.without(list_, "Progressing")
    elif not (
        status.get("replicas", 0) == status.get("updatedReplicas", 0)
        and known is not None
        and known.get("reason") == "NewReplicaSetAvailable"
    ):
        if is_complete(deployment, status):
            text = f"{subject} has successfully progressed."
            list_ = progressing(list_, "True", "NewReplicaSetAvailable", text, now)
        elif _has_progressed(before, status):
            # Its time is what the deadline counts from: it is written anew even if nothing else changes.
            fresh = condition("Progressing", "True", "ReplicaSetUpdated", f"{subject} is progressing.", now)
            if known is not None and known["status"] == "True" and "lastTransitionTime" in known:
                fresh["lastTransitionTime"] = known["lastTransitionTime"]
            list_ = [*conditions.without(list_, "Progressing"), fresh]
        elif _is_late(deployment, known, now):
            text = f"{subject} has timed out progressing."
            list_ = progressing(list_, "False", "ProgressDeadlineExceeded", text, now)
    failure = _failure(new, old)
    if failure is not None:
        list_ = conditions.with_condition(list_, failure)
    else:
        list_ = conditions.without(list_, "ReplicaFailure")
    return {**status, "conditions": list_}


def _failure(new: Set | None, old: list[Set]) -> Object | None:
    for replica_set in [new, *old]:
        failure = replica_set and conditions.find(
            replica_set.obj.get("status", {}).get("conditions"), "ReplicaFailure"
        )
        if failure:
            moment = (
                {"lastUpdateTime": failure["lastTransitionTime"]} if "lastTransitionTime" in failure else {}
            )
            return {**failure, **moment}
    return None


def check_again(deployment: Object, status: Object, now: float) -> float | None:
    """Return in how many seconds to check whether a rollout without progress is late."""
    known = conditions.find(status.get("conditions"), "Progressing")
    if known is None or not has_deadline(deployment) or "lastUpdateTime" not in known:
        return None
    if is_complete(deployment, status) or known.get("reason") == "ProgressDeadlineExceeded":
        return None
    due = rfc3339.parse(known["lastUpdateTime"]) + deployment["spec"]["progressDeadlineSeconds"]
    return max(0.0, due - now) + 1.0
