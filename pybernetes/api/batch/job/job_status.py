"""Checks of a job's status: how it may change while the job runs and ends."""

from __future__ import annotations

from typing import Any

from pybernetes.api.batch.job import index_sets
from pybernetes.api.field import OMIT, Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.table import epoch
from pybernetes.api.text import go_format
from pybernetes.api.validation import numbers

_STATUS = Path("status")
_CONDITIONS = _STATUS / "conditions"
_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


def is_true(obj: Object, kind: str, status: str = "True") -> bool:
    """Return whether the job has a condition."""
    conditions = obj.get("status", {}).get("conditions", ())
    return any(item.get("type") == kind and item.get("status") == status for item in conditions)


def is_finished(obj: Object) -> bool:
    """Return whether the job is complete or has failed."""
    return is_true(obj, "Complete") or is_true(obj, "Failed")


def validate(new: Object, old: Object, errors: Errors) -> None:
    """Check a new status against the job and its old status; most rules hold only for what changes."""
    after, before = new.get("status", {}), old.get("status", {})
    numbers.nonnegative_fields(after, _COUNTS, _STATUS, errors)
    _uncounted(after.get("uncountedTerminatedPods", {}), errors)

    def changed(*keys: str) -> bool:
        return any(after.get(key) != before.get(key) for key in keys)

    def turned(*kinds: str) -> bool:
        return any(is_true(new, kind) != is_true(old, kind) for kind in kinds)

    _conditions(new, old, turned, changed("failedIndexes"), errors)
    _times(new, old, turned, changed, errors)
    _finished(new, changed, is_finished(new) != is_finished(old), errors)
    _indexed(new, changed, errors)
    if changed("ready", "active") and "ready" in after and after["ready"] > after.get("active", 0):
        errors.invalid(_STATUS / "ready", after["ready"], "cannot set more ready pods than active")
    if after.get("failed", 0) < before.get("failed", 0):
        errors.invalid(_STATUS / "failed", after.get("failed", 0), "cannot decrease the failed counter")
    spec = new.get("spec", {})
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if not elastic and after.get("succeeded", 0) < before.get("succeeded", 0):
        errors.invalid(
            _STATUS / "succeeded", after.get("succeeded", 0), "cannot decrease the succeeded counter"
        )


def _uncounted(pods: Object, errors: Errors) -> None:
    seen: set[str] = set()
    for key in ("succeeded", "failed"):
        for index, uid in enumerate(pods.get(key, ())):
            path = (_STATUS / "uncountedTerminatedPods" / key)[index]
            if not uid:
                errors.invalid(path, uid, "must not be empty")
            elif uid in seen:
                errors.duplicate(path, uid)
            seen.add(uid)


def _conditions(new: Object, old: Object, turned: Any, failed_indexes: bool, errors: Errors) -> None:
    complete, failed, target, success = (
        is_true(new, kind) for kind in ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet")
    )
    policy = "successPolicy" in new.get("spec", {})
    ended_well = is_true(old, "Complete") and not is_true(old, "SuccessCriteriaMet")
    rules = (
        (
            turned("Complete", "Failed") and complete and failed,
            "cannot set Complete=True and Failed=true conditions",
        ),
        (
            turned("Complete", "FailureTarget") and complete and target,
            "cannot set Complete=True and FailureTarget=true conditions",
        ),
        (
            (turned("Failed") or failed_indexes) and failed and not target,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        (
            turned("Complete", "SuccessCriteriaMet") and complete and not success,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        (success and failed, "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
        (success and target, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"),
        (
            policy and complete and not success,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
        (
            ended_well and success,
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
        ),
    )
    for broken, text in rules:
        if broken:
            errors.invalid(_CONDITIONS, OMIT, text)
    for kind in ("Failed", "Complete", "FailureTarget"):
        if is_true(old, kind) and not is_true(new, kind):
            errors.invalid(_CONDITIONS, OMIT, f"cannot disable the terminal {kind}=True condition")
    if is_true(old, "SuccessCriteriaMet") and not success:
        errors.invalid(_CONDITIONS, OMIT, "cannot disable the SuccessCriteriaMet=True condition")


def _times(new: Object, old: Object, turned: Any, changed: Any, errors: Errors) -> None:
    after, before = new.get("status", {}), old.get("status", {})
    start, end, complete = after.get("startTime"), after.get("completionTime"), is_true(new, "Complete")
    path = _STATUS / "completionTime"
    if turned("Complete") or changed("completionTime"):
        if end and not complete:
            text = "cannot set completionTime when there is no Complete=True condition"
            errors.invalid(path, end, text)
        if complete and not end:
            errors.required(path, "completionTime is required for Complete jobs")
    if changed("startTime", "completionTime") and start and end and epoch(end) < epoch(start):
        errors.invalid(path, end, "must be equal to or after `startTime`")
    if end and before.get("completionTime") and end != before["completionTime"]:
        errors.invalid(path, end, "field is immutable")
    resuming = is_true(old, "Suspended") and is_true(new, "Suspended", "False")
    suspended = new.get("spec", {}).get("suspend", False)
    if before.get("startTime") and changed("startTime") and not suspended and not resuming:
        errors.invalid(_STATUS / "startTime", start, "field is immutable for unsuspended job once set")


def _finished(new: Object, changed: Any, ended: bool, errors: Errors) -> None:
    if not is_finished(new):
        return
    status, spec = new.get("status", {}), new.get("spec", {})
    if (ended or changed("active")) and status.get("active", 0) > 0:
        errors.invalid(_STATUS / "active", status["active"], "active>0 is invalid for finished job")
    nothing_to_do = spec.get("suspend") is True and spec.get("completions") == 0
    if (ended or changed("startTime")) and not status.get("startTime") and not nothing_to_do:
        errors.required(_STATUS / "startTime", "startTime is required for finished job")
    pods = status.get("uncountedTerminatedPods", {})
    if (ended or changed("uncountedTerminatedPods")) and (pods.get("succeeded") or pods.get("failed")):
        shown = go_format.Struct(Succeeded=pods.get("succeeded"), Failed=pods.get("failed"))
        errors.invalid(_STATUS / "uncountedTerminatedPods", shown, "must be empty for finished job")
    if (ended or changed("terminating")) and status.get("terminating", 0) > 0:
        errors.invalid(
            _STATUS / "terminating", status["terminating"], "terminating>0 is invalid for finished job"
        )


def _indexed(new: Object, changed: Any, errors: Errors) -> None:
    status, spec = new.get("status", {}), new.get("spec", {})
    done, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    completions, per_index = spec.get("completions"), "backoffLimitPerIndex" in spec
    if changed("completedIndexes"):
        if completions is not None:
            _format(done, completions, "completedIndexes", errors)
        if done and spec.get("completionMode") != "Indexed":
            text = "cannot set non-empty completedIndexes when non-indexed completion mode"
            errors.invalid(_STATUS / "completedIndexes", done, text)
    if changed("failedIndexes") and failed is not None:
        if completions is not None and per_index:
            _format(failed, completions, "failedIndexes", errors)
        if not per_index:
            text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
            errors.invalid(_STATUS / "failedIndexes", failed, text)
    if changed("failedIndexes", "completedIndexes") and completions is not None and failed is not None:
        common = index_sets.overlap(done, failed, completions)
        if common is not None:
            text = f"failedIndexes and completedIndexes overlap at index: {common}"
            errors.invalid(_STATUS / "failedIndexes", failed, text)


def _format(text: str, completions: int, key: str, errors: Errors) -> None:
    try:
        index_sets.count(text, completions)
    except ValueError as error:
        errors.invalid(_STATUS / key, text, f"error parsing {key}: {error}")
