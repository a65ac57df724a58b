"""CronJob: jobs that are made at set times."""

from __future__ import annotations

import re

from pybernetes.api import workload
from pybernetes.api.batch.cronjob import cron
from pybernetes.api.batch.job import job_spec
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get, since
from pybernetes.api.validation import numbers

_SPEC = Path("spec")
_JOB = _SPEC / "jobTemplate" / "spec"
_POLICIES = ("Allow", "Forbid", "Replace")
# The controller adds a time to the name, and the name of a job has 63 characters at most.
_MAX_NAME = 52
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}\Z")
_ZONE_WARNING = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


def default(obj: Object) -> None:
    """Let jobs run at the same time, and keep a few that ended."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("schedule", "")
    if not spec.get("concurrencyPolicy"):
        spec["concurrencyPolicy"] = "Allow"
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    template = spec.setdefault("jobTemplate", {})
    template.setdefault("metadata", {})
    job_spec.default_template(template.setdefault("spec", {}))
    obj.setdefault("status", {})


def prepare_create(obj: Object) -> None:
    """Start with an empty status."""
    obj["status"] = {}
    job_spec.drop_disabled(obj["spec"]["jobTemplate"]["spec"], {})


def prepare_update(new: Object, old: Object) -> None:
    """Drop what is of features that are off."""
    job_spec.drop_disabled(get(new, ".spec.jobTemplate.spec", {}), get(old, ".spec.jobTemplate.spec", {}))


def validate(obj: Object, errors: Errors) -> None:
    """Check the schedule and the job that is made from it."""
    spec = obj.get("spec", {})
    schedule = spec.get("schedule", "")
    if schedule:
        try:
            cron.parse(schedule)
        except cron.CronError as error:
            errors.invalid(_SPEC / "schedule", schedule, str(error))
    numbers.nonnegative_fields(spec, ("startingDeadlineSeconds",), _SPEC, errors)
    policy = spec.get("concurrencyPolicy", "")
    if not policy:
        errors.required(_SPEC / "concurrencyPolicy")
    elif policy not in _POLICIES:
        errors.unsupported(_SPEC / "concurrencyPolicy", policy, _POLICIES)
    job = get(spec, ".jobTemplate.spec", {})
    job_spec.validate(job, _JOB, errors)
    if "selector" in job:
        errors.invalid(
            _JOB / "selector", workload.ordered(job["selector"]), "`selector` will be auto-generated"
        )
    if job.get("manualSelector"):
        errors.unsupported(_JOB / "manualSelector", True, ("nil", "false"))
    limits = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    numbers.nonnegative_fields(spec, limits, _SPEC, errors)
    if not schedule:
        errors.required(_SPEC / "schedule")


def validate_create(obj: Object, errors: Errors) -> None:
    """Check the name, from which the names of jobs are made, and the time zone."""
    name = obj["metadata"].get("name", "")
    if len(name.encode()) > _MAX_NAME:
        errors.invalid(Path("metadata") / "name", name, f"must be no more than {_MAX_NAME} characters")
    _zone_in_schedule(obj, errors)
    _zone(get(obj, ".spec.timeZone"), errors)


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check a new time zone; one inside the schedule is kept if it was there."""
    zone, schedule = get(new, ".spec.timeZone"), get(new, ".spec.schedule", "")
    if "TZ" not in get(old, ".spec.schedule", ""):
        _zone_in_schedule(new, errors)
    elif "TZ" in schedule and zone is not None:
        text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.invalid(_SPEC / "schedule", schedule, text)
    if zone != get(old, ".spec.timeZone"):
        _zone(zone, errors)


def _zone_in_schedule(obj: Object, errors: Errors) -> None:
    schedule = get(obj, ".spec.schedule", "")
    if "TZ" in schedule:
        text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.invalid(_SPEC / "schedule", schedule, text)


def _zone(zone: str | None, errors: Errors) -> None:
    path = _SPEC / "timeZone"
    if zone is None:
        return
    if not zone:
        errors.invalid(path, zone, "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _ZONE_PART.match(part):
            errors.invalid(path, zone, f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        text = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.invalid(path, zone, text)
    if problem := cron.zone_problem(zone):
        errors.invalid(path, zone, problem)


def warnings(new: Object, old: Object | None) -> list[str]:
    """Warn about names and numbers that bring surprises."""
    changed = old is None or old.get("spec") != new.get("spec")
    messages = workload.name_warnings(new, old)
    if changed:
        messages += job_spec.warnings(get(new, ".spec.jobTemplate.spec", {}), _JOB)
    if old is not None and "TZ" in get(new, ".spec.schedule", ""):
        messages.append(_ZONE_WARNING)
    return messages


def _last(obj: Object, now: float) -> str:
    last = get(obj, ".status.lastScheduleTime")
    return since(last, now) if last else "<none>"


RESOURCE = Resource(
    group="batch",
    version="v1",
    kind="CronJob",
    plural="cronjobs",
    short_names=("cj",),
    categories=("all",),
    subresources=("status",),
    generation=True,
    columns=(
        NAME,
        Column("Schedule", lambda obj, now: get(obj, ".spec.schedule", "")),
        Column("Timezone", lambda obj, now: get(obj, ".spec.timeZone", "<none>")),
        Column("Suspend", lambda obj, now: str(get(obj, ".spec.suspend", "<unset>")), type="boolean"),
        Column("Active", lambda obj, now: len(get(obj, ".status.active", ())), type="integer"),
        Column("Last Schedule", _last),
        AGE,
        *workload.template_columns(".spec.jobTemplate.spec.template"),
        workload.selector_column(".spec.jobTemplate.spec.selector"),
    ),
    default=default,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    validate=validate,
    validate_create=validate_create,
    validate_update=validate_update,
    warnings=warnings,
)
