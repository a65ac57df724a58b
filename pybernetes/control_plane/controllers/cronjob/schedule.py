"""When a CronJob was last due and when it is due next."""

from __future__ import annotations

from typing import NamedTuple
from zoneinfo import ZoneInfo

from pybernetes.api.batch.cronjob import cron
from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339

# A job is made a moment after it is due, never before.
_DELTA = 0.1
MANY = 100
_TOO_CLOSE = "time difference between two schedules is less than 1 second"


class Timetable:
    """The schedule of a CronJob; CronError if it cannot be read."""

    def __init__(self, cron_job: Object) -> None:
        spec = cron_job["spec"]
        self.zone_name: str = spec.get("timeZone") or ""
        self._schedule = cron.parse(spec["schedule"])
        own = self.zone_name not in ("", "Local") and "TZ" not in spec["schedule"]
        self._zone = ZoneInfo(self.zone_name) if own else None

    def next(self, moment: float) -> float | None:
        """Return the first due time after a moment."""
        return cron.following(self._schedule, moment, self._zone)


class Missed(NamedTuple):
    """``latest`` is when a job was last due since ``since``, if one was; ``number`` how often, roughly."""

    since: float
    latest: float | None
    number: int


def missed(cron_job: Object, table: Timetable, now: float, deadline: bool) -> Missed:
    """Look back to the last job, or no further than the starting deadline allows."""
    status, spec = cron_job.get("status", {}), cron_job["spec"]
    since = rfc3339.parse(status.get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"])
    if deadline and "startingDeadlineSeconds" in spec:
        since = max(since, now - spec["startingDeadlineSeconds"])
    first = table.next(since)
    if first is not None and now < first:
        return Missed(since, None, 0)
    second = table.next(first) if first is not None else None
    # Go's time of what never comes is the zero time, which two of them have in common.
    if first is None or second is None:
        raise cron.CronError(_TOO_CLOSE)
    if now < second:
        return Missed(since, first, 0)
    between = round(second - first)
    if between < 1:
        raise cron.CronError(_TOO_CLOSE)
    count = int(now - first) // between + 1
    # The distance is not always the same: look back further until there is one, and go on from it.
    back, latest = 2, first
    while back <= count:
        at = table.next(first + (count - back) * between)
        if at is not None and at <= now:
            latest = at
            break
        back *= 2
    while (at := table.next(latest)) is not None and at <= now:
        latest = at
    return Missed(since, latest, count)


def wait(cron_job: Object, table: Timetable, now: float) -> float | None:
    """Return in how many seconds the next job is due."""
    try:
        seen = missed(cron_job, table, now, deadline=False)
        start = seen.latest if seen.latest is not None else now if seen.number else seen.since
    except cron.CronError:
        start = now
    due = table.next(start)
    return max(0.0, due + _DELTA - now) if due is not None else None
