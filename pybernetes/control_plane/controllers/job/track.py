"""Accounting for pods that have ended: into the status first, and only then is their finalizer taken off.

A pod that is uncounted is named in the status, so that after a crash at any point each is counted once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers._objects import conditions
from pybernetes.control_plane.controllers.job import policies
from pybernetes.control_plane.controllers.job.decide import condition
from pybernetes.control_plane.controllers.job.indexes import has_valid_index, index_of
from pybernetes.control_plane.controllers.job.view import View

MOST_UNCOUNTED = 500


@dataclass
class Tracking:
    """The status to write before the finalizers of ``release`` are taken off; ``finished`` is how the job ends then."""

    status: Object
    finished: Object | None
    release: list[Object] = field(default_factory=list)
    partial: bool = False  # whether there is more to count


def track(view: View, status: Object, finished: Object | None, now: float) -> Tracking:
    """Count the pods that have ended; ``status`` has the other fields of the new status."""
    held = {pod["metadata"]["uid"] for pod in view.tracked}
    status = count(status, held)
    result = Tracking(status, finished)
    uncounted = status.get("uncountedTerminatedPods") or {}
    succeeded = list(uncounted.get("succeeded") or ())
    failed = list(uncounted.get("failed") or ())
    indexes: list[int] = []
    pods = sorted(view.tracked, key=index_of) if view.indexed else view.tracked
    for pod in pods:
        if not _may_go(view, pod, finished):
            continue
        result.release.append(pod)
        uid = pod["metadata"]["uid"]
        if _phase(pod) == "Succeeded" and uid not in view.uncounted_failed:
            if view.indexed:
                if has_valid_index(pod, view.completions or 0) and index_of(pod) not in view.succeeded_before:
                    indexes.append(index_of(pod))
            elif uid not in view.uncounted_succeeded:
                succeeded.append(uid)
        elif _counts_as_failed(view, pod, finished) and uid not in view.uncounted_failed:
            failed.append(uid)
        if len(indexes) + len(succeeded) + len(failed) >= MOST_UNCOUNTED:
            result.partial = True
            break
    lists = {"succeeded": succeeded, "failed": failed}
    status["uncountedTerminatedPods"] = {name: uids for name, uids in lists.items() if uids}
    if view.indexed:
        done = view.succeeded_indexes.with_indexes(indexes)
        status["succeeded"], status["completedIndexes"] = len(done), str(done)
        if view.failed_indexes is not None:
            status["failedIndexes"] = str(view.failed_indexes)
    result.status, result.finished = _announce(status, finished, now)
    return result


def _may_go(view: View, pod: Object, finished: Object | None) -> bool:
    """Return whether a pod can be accounted for now."""
    if "deletionTimestamp" in view.job["metadata"] or finished is not None or _phase(pod) == "Succeeded":
        return True
    if not policies.is_failed(pod, view.job):
        return False
    # The last failed pod of an index tells its successor how many there were before.
    return view.waiting.get(index_of(pod)) is not pod


def _counts_as_failed(view: View, pod: Object, finished: Object | None) -> bool:
    ended = finished is not None and finished["type"] != "SuccessCriteriaMet"
    if not policies.is_failed(pod, view.job) and not ended:
        return False
    if view.indexed and not has_valid_index(pod, view.completions or 0):
        return False
    return policies.verdict(view.job, pod).counts


def _announce(status: Object, finished: Object | None, now: float) -> tuple[Object, Object | None]:
    """Add the condition that the job is about to end; the final one comes when its pods are gone."""
    if finished is None:
        return status, None
    known = status.get("conditions") or []
    if finished["type"] in ("FailureTarget", "SuccessCriteriaMet"):
        if conditions.find(known, finished["type"]) is None:
            status = {**status, "conditions": [*known, finished]}
        type_ = "Failed" if finished["type"] == "FailureTarget" else "Complete"
        finished = condition(type_, "True", finished.get("reason", ""), finished.get("message", ""), now)
    return status, finished


def count(status: Object, held: Collection[str]) -> Object:
    """Return the status with the uncounted pods that have no finalizer any more counted."""
    uncounted = status.get("uncountedTerminatedPods") or {}
    changed = dict(status)
    left = {}
    for name in ("succeeded", "failed"):
        uids = uncounted.get(name) or ()
        still = [uid for uid in uids if uid in held]
        if len(still) < len(uids):
            changed[name] = changed.get(name, 0) + len(uids) - len(still)
        if still:
            left[name] = still
    changed["uncountedTerminatedPods"] = left
    return changed


def finish(status: Object, finished: Object | None, terminating: int, now: float) -> Object | None:
    """Return the final status of the job; None while pods are uncounted or terminating."""
    if finished is None or terminating or any((status.get("uncountedTerminatedPods") or {}).values()):
        return None
    status = {**status, "conditions": ensured(status.get("conditions"), finished)}
    if finished["type"] == "Complete":
        status["completionTime"] = finished["lastTransitionTime"]
    return status


def ensured(known: list[Object] | None, wanted: Object) -> list[Object]:
    """Return the conditions with one changed or added; one that is false is not added."""
    old = conditions.find(known, wanted["type"])
    if old is None:
        return [*(known or ()), wanted] if wanted["status"] != "False" else list(known or ())
    same = all(old.get(name) == wanted.get(name) for name in ("status", "reason", "message"))
    return [wanted if other is old and not same else other for other in known or ()]


def _phase(pod: Object) -> str:
    return pod.get("status", {}).get("phase", "")
