"""What is to become of a job: whether it is at its end, and which pods to make and delete until then."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers._objects.pods import finished_at, is_terminating
from pybernetes.control_plane.controllers._workload.batches import BURST
from pybernetes.control_plane.controllers._workload.ranking import by_activity
from pybernetes.control_plane.controllers.job import backoff, policies
from pybernetes.control_plane.controllers.job.indexes import index_of
from pybernetes.control_plane.controllers.job.view import View
from pybernetes.lib import rfc3339


def condition(type_: str, status: str, reason: str, message: str, now: float) -> Object:
    """Return a new condition of a job."""
    return {
        **conditions.condition(type_, status, reason, message, now),
        "lastProbeTime": rfc3339.seconds(now),
    }


@dataclass
class Decision:
    """``finished`` is the condition that ends the job once its pods are gone."""

    finished: Object | None = None
    delete: list[Object] = field(default_factory=list)
    release: bool = False  # whether pods that are deleted are no longer to be accounted for
    create: list[int] = field(default_factory=list)  # indexes, -1 for a pod without one
    again: float | None = None


def decide(view: View, now: float) -> Decision:
    """Decide which pods to create and delete, and whether the job has ended."""
    result = Decision()
    result.finished = _end(view, now, result)
    if result.finished is not None:
        result.delete = view.active
    elif "deletionTimestamp" not in view.job["metadata"]:
        _manage(view, now, result)
    return result


def started_at(view: View) -> float | None:
    """Return when the job started, or None."""
    text = view.status.get("startTime")
    return rfc3339.parse(text) if text else None


def _end(view: View, now: float, result: Decision) -> Object | None:
    """Return the condition that ends the job, or None."""
    spec, known = view.spec, view.status.get("conditions")
    met = conditions.find(known, "SuccessCriteriaMet")
    if met is not None and met["status"] == "True":
        return met
    target = conditions.find(known, "FailureTarget")
    if target is not None and target["status"] == "True":
        return condition("Failed", "True", target.get("reason", ""), target.get("message", ""), now)
    fail = _fail_message(view)
    if fail:
        return condition("FailureTarget", "True", "PodFailurePolicy", fail, now)
    if view.failed > spec.get("backoffLimit", 6) or _restarted_too_often(view):
        text = "Job has reached the specified backoff limit"
        return condition("FailureTarget", "True", "BackoffLimitExceeded", text, now)
    limit = spec.get("activeDeadlineSeconds")
    if limit is not None and not view.suspended:
        left = (started_at(view) or now) + limit - now
        if left <= 0 and "startTime" in view.status:
            text = "Job was active longer than specified deadline"
            return condition("FailureTarget", "True", "DeadlineExceeded", text, now)
        result.again = max(left, 0.0)
    return _end_of_indexes(view, now) if view.indexed else None


def _end_of_indexes(view: View, now: float) -> Object | None:
    failed = view.failed_indexes
    if failed is not None:
        most = view.spec.get("maxFailedIndexes")
        if most is not None and len(failed) > most:
            text = "Job has exceeded the specified maximal number of failed indexes"
            return condition("FailureTarget", "True", "MaxFailedIndexesExceeded", text, now)
        if failed and len(failed) + len(view.succeeded_indexes) >= (view.completions or 0):
            return condition("FailureTarget", "True", "FailedIndexes", "Job has failed indexes", now)
    met = policies.success(view.job, view.succeeded_indexes)
    return condition("SuccessCriteriaMet", "True", "SuccessPolicy", met, now) if met else None


def _fail_message(view: View) -> str:
    if "podFailurePolicy" not in view.spec:
        return ""
    failed = (pod for pod in view.pods if policies.is_failed(pod, view.job))
    return next((text for pod in failed if (text := policies.verdict(view.job, pod).message)), "")


def _restarted_too_often(view: View) -> bool:
    """Return whether containers that are restarted in place have used up the limit."""
    if view.spec["template"].get("spec", {}).get("restartPolicy") != "OnFailure":
        return False
    restarts = 0
    for pod in view.pods:
        status = pod.get("status", {})
        if status.get("phase") in ("Running", "Pending"):
            for kind in ("initContainerStatuses", "containerStatuses"):
                restarts += sum(container.get("restartCount", 0) for container in status.get(kind) or ())
    limit = view.spec.get("backoffLimit", 6)
    return restarts >= limit if limit else restarts > 0


# -- how many pods ---------------------------------------------------------------------------------------


def wanted(view: View) -> int:
    """Return how many pods are to run."""
    parallelism = view.spec.get("parallelism", 1)
    if view.completions is None:  # the first success is enough, and those that run may finish
        return len(view.active) if view.succeeded else parallelism
    return max(0, min(parallelism, view.completions - view.succeeded))


def _manage(view: View, now: float, result: Decision) -> None:
    active = len(view.active)
    if view.suspended:
        result.delete, result.release = _removable(view, active), True
        return
    target = wanted(view)
    result.delete = _removable(view, max(0, active - target))[:BURST]
    if result.delete:
        result.release = True
        return
    missing = target - active - (view.terminating if policies.replaces_failed_only(view.job) else 0)
    if missing <= 0:
        return
    per_index = policies.is_per_index(view.job)
    delay = 0.0 if per_index else view.record.remaining(now)
    if delay > 0:
        result.again = min(delay, result.again if result.again is not None else delay)
        return
    missing = min(missing, BURST)
    if not view.indexed:
        result.create = [-1] * missing
        return
    result.create = _pending(view, missing)
    if per_index:
        _hold_back(view, now, result)


def _pending(view: View, count: int) -> list[int]:
    """Return the first indexes that no pod works on."""
    taken = view.succeeded_indexes.with_indexes(index_of(pod) for pod in view.active if index_of(pod) >= 0)
    if policies.replaces_failed_only(view.job):
        leaving = [index_of(pod) for pod in view.pods if is_terminating(pod)]
        taken = taken.with_indexes(index for index in leaving if index >= 0)
    if view.failed_indexes is not None:
        taken = taken | view.failed_indexes
    return list(islice(taken.missing(view.completions or 0), count))


def _hold_back(view: View, now: float, result: Decision) -> None:
    """Leave out indexes whose last pod failed a short while ago."""
    delays = {}
    for index in result.create:
        last = view.waiting.get(index)
        delays[index] = (
            backoff.remaining(policies.failures(last) + 1, finished_at(last), now)
            if last is not None
            else 0.0
        )
    result.create = [index for index in result.create if delays[index] <= 0]
    later = [delay for delay in delays.values() if delay > 0]
    if later and not result.create:
        result.again = min([*later, *([result.again] if result.again is not None else [])])


def _removable(view: View, least: int) -> list[Object]:
    """Return at least so many active pods to delete: useless ones first, then the least active."""
    useless: list[Object] = []
    rest = view.active
    if view.indexed:
        rest = []
        groups: dict[int, list[Object]] = {}
        for pod in view.active:
            groups.setdefault(index_of(pod), []).append(pod)
        for index, pods in sorted(groups.items()):
            if index < 0 or index >= (view.completions or 0):
                useless += pods
            else:
                *spare, kept = by_activity(pods)
                useless += spare
                rest.append(kept)
    if len(useless) < least:
        useless += by_activity(rest)[: least - len(useless)]
    return useless
