"""What the policies of a job make of its pods: failure policy, replacement policy, success policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.job.indexes import Indexes

FINALIZER = "batch.kubernetes.io/job-tracking"
_FAILURES = "batch.kubernetes.io/job-index-failure-count"
_IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"


def is_tracked(pod: Object) -> bool:
    """Return whether a pod is still to be accounted for."""
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def is_indexed(job: Object) -> bool:
    """Return whether each pod has a completion index."""
    return job["spec"].get("completionMode") == "Indexed"


def is_per_index(job: Object) -> bool:
    """Return whether failures are counted for each index."""
    return "backoffLimitPerIndex" in job["spec"]


def replaces_failed_only(job: Object) -> bool:
    """Return whether a pod that is being deleted is replaced only when it has failed."""
    return job["spec"].get("podReplacementPolicy") == "Failed"


def is_failed(pod: Object, job: Object) -> bool:
    """Return whether a pod counts as failed: it says so, or it goes away without success."""
    phase = pod.get("status", {}).get("phase")
    if phase == "Failed":
        return True
    return not replaces_failed_only(job) and "deletionTimestamp" in pod["metadata"] and phase != "Succeeded"


class Verdict(NamedTuple):
    """What the failure policy says of a failed pod. ``message`` is why the whole job fails, if it does."""

    action: str = ""
    counts: bool = True
    message: str = ""


def verdict(job: Object, pod: Object) -> Verdict:
    """Return what the first matching rule of the pod failure policy says."""
    policy = job["spec"].get("podFailurePolicy")
    for place, rule in enumerate(policy.get("rules") or () if policy else ()):
        action = rule["action"]
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if "onExitCodes" in rule:
            matched = _exit(pod, rule["onExitCodes"])
            text = matched and (
                f"Container {matched[0]} for pod {name} failed with exit code {matched[1]} "
                f"matching {action} rule at index {place}"
            )
        else:
            type_ = _condition(pod, rule.get("onPodConditions") or ())
            text = type_ and f"Pod {name} has condition {type_} matching {action} rule at index {place}"
        if text:
            return Verdict(action, action != "Ignore", text if action == "FailJob" else "")
    return Verdict()


def _exit(pod: Object, wanted: Object) -> tuple[str, int] | None:
    status, values = pod.get("status", {}), wanted.get("values") or ()
    for container in [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]:
        code = (container.get("state", {}).get("terminated") or {}).get("exitCode", 0)
        if not code or wanted.get("containerName", container["name"]) != container["name"]:
            continue
        if (code in values) == (wanted["operator"] == "In"):
            return container["name"], code
    return None


def _condition(pod: Object, patterns: Iterable[Object]) -> str:
    wanted = {(pattern["type"], pattern.get("status", "True")) for pattern in patterns}
    for condition in pod.get("status", {}).get("conditions") or ():
        if (condition["type"], condition["status"]) in wanted:
            return condition["type"]
    return ""


# -- failures of an index --------------------------------------------------------------------------------


def _number(pod: Object, annotation: str) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(annotation, "")
    return int(text) if text.isdecimal() and int(text) < 2**31 else 0


def failures(pod: Object) -> int:
    """Return how many pods of the same index failed before this one, whether that counted or not."""
    return _number(pod, _FAILURES) + _number(pod, _IGNORED)


def fails_index(pod: Object, job: Object) -> bool:
    """Return whether with this pod its whole index has failed."""
    if not is_failed(pod, job):
        return False
    pod_verdict = verdict(job, pod)
    if pod_verdict.action == "FailIndex":
        return True
    return pod_verdict.counts and _number(pod, _FAILURES) >= job["spec"]["backoffLimitPerIndex"]


def failure_annotations(job: Object, replaced: Object | None) -> dict[str, str]:
    """Return the annotations with the failures of the index so far."""
    counted = ignored = 0
    if replaced is not None:
        counts = verdict(job, replaced).counts
        counted = _number(replaced, _FAILURES) + counts
        ignored = _number(replaced, _IGNORED) + (not counts)
    annotations = {_FAILURES: str(counted)}
    if ignored:
        annotations[_IGNORED] = str(ignored)
    return annotations


# -- success ---------------------------------------------------------------------------------------------


def success(job: Object, succeeded: Indexes) -> str:
    """Return which rule of the success policy is met, as a message; empty if none is."""
    policy = job["spec"].get("successPolicy")
    if policy is None or not succeeded:
        return ""
    for place, rule in enumerate(policy.get("rules") or ()):
        count = rule.get("succeededCount")
        if "succeededIndexes" in rule:
            wanted = Indexes.parse(rule["succeededIndexes"], job["spec"]["completions"])
            have = succeeded.common(wanted)
            met = bool(wanted) and (have == len(wanted) or (count is not None and have >= count))
        else:
            met = count is not None and len(succeeded) >= count
        if met:
            return f"Matched rules at index {place}"
    return ""
