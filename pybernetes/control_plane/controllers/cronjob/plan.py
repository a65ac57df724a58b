"""What is to be done about a CronJob: a pure function of it, its jobs and the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from zoneinfo import ZoneInfo

from pybernetes.api.batch.cronjob import cron
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.controllers.cronjob import schedule
from pybernetes.lib import rfc3339

_SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
_TOO_MANY = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"


@dataclass
class Plan:
    """Jobs to delete, then perhaps one to make, and the status without that one."""

    status: Object
    delete: list[Object] = field(default_factory=list)
    create: Object | None = None
    due: float = 0.0  # the time that the new job is for
    events: list[tuple[str, str, str]] = field(default_factory=list)
    again: float | None = None


def end_of(job: Object) -> str:
    """Return Complete or Failed, or an empty string while a job goes on."""
    for condition in job.get("status", {}).get("conditions") or ():
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return condition["type"]
    return ""


def plan(
    cron_job: Object, jobs: list[Object], reference: Object, now: float, is_there: Callable[[Object], bool]
) -> Plan:
    """Decide what to do; ``is_there`` tells whether a job that the status names still exists."""
    result = Plan(dict(cron_job.get("status", {})))
    cleaned = _old(cron_job, jobs)
    result.delete += cleaned
    _sync_active(result, jobs, {job["metadata"]["uid"] for job in cleaned}, is_there)
    if "deletionTimestamp" in cron_job["metadata"]:
        return result
    table = _timetable(cron_job, result)
    if table is not None and not cron_job["spec"].get("suspend"):
        _run(cron_job, jobs, reference, now, table, result)
    return result


def _sync_active(
    result: Plan, jobs: list[Object], cleaned: set[str], is_there: Callable[[Object], bool]
) -> None:
    """Remove jobs that have ended or are gone from the list of active ones."""
    status = result.status
    active = list(status.get("active") or ())
    known = {reference["uid"] for reference in active}
    for job in jobs:
        meta, end = job["metadata"], end_of(job)
        if not end:
            if meta["uid"] not in known:
                text = f"Saw a job that the controller did not create or forgot: {meta['name']}"
                result.events.append(("Warning", "UnexpectedJob", text))
            continue
        if meta["uid"] in known:
            active = [reference for reference in active if reference["uid"] != meta["uid"]]
            text = f"Saw completed job: {meta['name']}, condition: {end}"
            result.events.append(("Normal", "SawCompletedJob", text))
        completed = job["status"].get("completionTime")
        if end == "Complete" and completed and completed > status.get("lastSuccessfulTime", ""):
            status["lastSuccessfulTime"] = completed
    own = {job["metadata"]["uid"] for job in jobs}
    for reference in list(active):
        if reference["uid"] in cleaned:
            active.remove(reference)
        elif reference["uid"] not in own and not is_there(reference):
            active.remove(reference)
            result.events.append(("Normal", "MissingJob", f"Active job went missing: {reference['name']}"))
    status["active"] = active


def _old(cron_job: Object, jobs: list[Object]) -> list[Object]:
    """Return the oldest finished jobs beyond the history limit."""
    old: list[Object] = []
    for end, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
        if limit in cron_job["spec"]:
            ended = [job for job in jobs if end_of(job) == end]
            ended.sort(key=lambda job: (job["status"].get("startTime", "9"), job["metadata"]["name"]))
            old += ended[: max(0, len(ended) - cron_job["spec"][limit])]
    return [job for job in old if "deletionTimestamp" not in job["metadata"]]


def _timetable(cron_job: Object, result: Plan) -> schedule.Timetable | None:
    spec = cron_job["spec"]
    zone, text = spec.get("timeZone") or "", spec["schedule"]
    problem = cron.zone_problem(zone)
    if problem:
        result.events.append(
            ("Warning", "UnknownTimeZone", f"invalid timeZone: {go_format.quote(zone)}: {problem}")
        )
        return None
    if "TZ" in text and not spec.get("suspend"):
        warning = (
            f"CRON_TZ or TZ used in schedule {go_format.quote(text)} is not officially supported, see "
            "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
        )
        result.events.append(("Warning", "UnsupportedSchedule", warning))
    try:
        return schedule.Timetable(cron_job)
    except cron.CronError as error:
        result.events.append(
            ("Warning", "UnparseableSchedule", f"unparseable schedule: {go_format.quote(text)} : {error}")
        )
        return None


def _run(
    cron_job: Object,
    jobs: list[Object],
    reference: Object,
    now: float,
    table: schedule.Timetable,
    result: Plan,
) -> None:
    spec, status, meta = cron_job["spec"], result.status, cron_job["metadata"]
    try:
        seen = schedule.missed(cron_job, table, now, deadline=True)
    except cron.CronError as error:
        result.events.append(
            ("Warning", "InvalidSchedule", f"invalid schedule: {spec['schedule']} : {error}")
        )
        return
    due = seen.latest
    result.again = schedule.wait(cron_job, table, now)
    if due is None:
        return
    if seen.number > schedule.MANY:
        result.events.append(("Warning", "TooManyMissedTimes", _TOO_MANY))
    if due + spec.get("startingDeadlineSeconds", 2**40) < now:
        moment = format_datetime(datetime.fromtimestamp(due, UTC))
        text = f"Missed scheduled time to start a job: {moment}"
        result.events.append(("Warning", "MissSchedule", text))
        return
    name = f"{meta['name']}-{int(due) // 60}"
    last = status.get("lastScheduleTime")
    if any(reference["name"] == name for reference in status["active"]) or (
        last and rfc3339.parse(last) == due
    ):
        return
    policy = spec.get("concurrencyPolicy")
    if policy == "Forbid" and status["active"]:
        text = "Not starting job because prior execution is running and concurrency policy is Forbid"
        result.events.append(("Normal", "JobAlreadyActive", text))
        return
    if policy == "Replace":
        names = {reference["name"] for reference in status["active"]}
        result.delete += [job for job in jobs if job["metadata"]["name"] in names]
        status["active"] = []
    result.create, result.due = _new_job(cron_job, name, due, reference), due
    after = {**cron_job, "status": {**status, "lastScheduleTime": rfc3339.seconds(due)}}
    result.again = schedule.wait(after, table, now)


def _new_job(cron_job: Object, name: str, due: float, reference: Object) -> Object:
    given = cron_job["spec"]["jobTemplate"]
    meta = given.get("metadata", {})
    zone = cron_job["spec"].get("timeZone") or "UTC"
    moment = datetime.fromtimestamp(due, ZoneInfo(zone) if zone != "Local" else None)
    text = moment.isoformat().removesuffix("+00:00") + (
        "Z" if moment.utcoffset() == UTC.utcoffset(None) else ""
    )
    made: Object = {
        "name": name,
        "namespace": cron_job["metadata"]["namespace"],
        "annotations": {**meta.get("annotations", {}), _SCHEDULED_AT: text},
        "ownerReferences": [reference],
    }
    if meta.get("labels"):
        made["labels"] = meta["labels"]
    return {"metadata": made, "spec": given.get("spec", {})}


def started(status: Object, job: Object, due: float) -> Object:
    """Return the status with a job that was created."""
    meta = job["metadata"]
    link = {
        "kind": "Job",
        "namespace": meta["namespace"],
        "name": meta["name"],
        "uid": meta["uid"],
        "apiVersion": "batch/v1",
        "resourceVersion": meta["resourceVersion"],
    }
    return {**status, "active": [*status["active"], link], "lastScheduleTime": rfc3339.seconds(due)}
