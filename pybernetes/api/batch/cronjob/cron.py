"""Cron schedules, in the grammar and with the error messages of the parser that Kubernetes uses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pybernetes.api.text import go_format
from pybernetes.api.text.durations import parse_duration
from pybernetes.lib.memory.bounded_cache import bounded_cache

_MONTHS = dict(
    jan=1, feb=2, mar=3, apr=4, may=5, jun=6, jul=7, aug=8, sep=9, oct=10, nov=11, dec=12
)  # fmt: skip
_DAYS = dict(sun=0, mon=1, tue=2, wed=3, thu=4, fri=5, sat=6)
_NUMBER = re.compile(r"[+-]?[0-9]+\Z")
_DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
# Lowest and highest value and the names of minutes, hours, days, months and days of the week.
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}), (0, 23, {}), (1, 31, {}), (1, 12, _MONTHS), (0, 6, _DAYS),
)  # fmt: skip


class CronError(ValueError):
    """The text is not a schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due: at each combination of the values, or every so many seconds.

    A day must fit both the days and the weekdays if one of them was a star, else one of them.
    """

    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    any_day: bool = False
    zone: str = ""
    every: float = 0


@bounded_cache()
def parse(text: str) -> Schedule:
    """Return the schedule in a text; raise CronError if it is none."""
    if not text:
        raise CronError("empty spec string")
    zone = ""
    if text.startswith(("TZ=", "CRON_TZ=")):
        head, space, rest = text.partition(" ")
        if not space:
            raise CronError("invalid schedule format: runtime error: slice bounds out of range [:-1]")
        zone = head.partition("=")[2]
        if problem := zone_problem(zone):
            raise CronError(f"provided bad location {zone}: {problem}")
        text = rest.strip()
    if text.startswith("@every "):
        return Schedule(zone=zone, every=max(1.0, _duration(text)))
    if text.startswith("@") and text not in _DESCRIPTORS:
        raise CronError(f"unrecognized descriptor: {text}")
    fields = _DESCRIPTORS.get(text, text).split()
    if len(fields) != len(_FIELDS):
        raise CronError(f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]")
    parsed = [_field(field, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True)]
    (minutes, _), (hours, _), (days, any_day), (months, _), (weekdays, any_weekday) = parsed
    return Schedule(minutes, hours, days, months, weekdays, any_day or any_weekday, zone)


def _field(text: str, low: int, high: int, names: dict[str, int]) -> tuple[frozenset[int], bool]:
    """Return the values of a field, and whether a star stands for all of them."""
    values: set[int] = set()
    star = False
    for part in text.split(","):
        if part:
            numbers, is_star = _range(part, low, high, names)
            values.update(numbers)
            star = star or is_star
    return frozenset(values), star


def _range(text: str, low: int, high: int, names: dict[str, int]) -> tuple[range, bool]:
    bounds, *steps = text.split("/")
    limits = bounds.split("-")
    star = limits[0] in ("*", "?")
    if star:
        start, end = low, high
    else:
        start = end = _number(limits[0], names)
        if len(limits) == 2:
            end = _number(limits[1], names)
        elif len(limits) > 2:
            raise CronError(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0], {})
        if len(limits) == 1:
            end = high
    elif steps:
        raise CronError(f"too many slashes: {text}")
    if start < low:
        raise CronError(f"beginning of range ({start}) below minimum ({low}): {text}")
    if end > high:
        raise CronError(f"end of range ({end}) above maximum ({high}): {text}")
    if start > end:
        raise CronError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise CronError(f"step of range should be a positive number: {text}")
    return range(start, end + 1, step), star and step == 1


def _number(text: str, names: dict[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    problem = "" if _NUMBER.match(text) else "invalid syntax"
    if not problem and (len(text) > 20 or not -(2**63) <= int(text) < 2**63):
        problem = "value out of range"
    if problem:
        raise CronError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {go_format.quote(text)}: {problem}"
        )
    if int(text) < 0:
        raise CronError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)


def _duration(text: str) -> float:
    """Return the seconds of ``@every 1h30m``."""
    try:
        return parse_duration(text[len("@every ") :])
    except ValueError as error:
        raise CronError(f"failed to parse duration {text}: {error}") from None


@bounded_cache()
def zone_problem(name: str) -> str:
    """Return what is wrong with the name of a time zone, or nothing."""
    if name in ("", "UTC", "Local"):
        return ""
    if ".." in name or name[0] in "/\\":
        return "time: invalid location name"
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return f"unknown time zone {name}"
    return ""


def following(schedule: Schedule, moment: float, zone: ZoneInfo | None = None) -> float | None:
    """Return the first moment after another that a schedule names; None if there is none within five years.

    Both are seconds since the epoch. Without a zone the machine's own counts. A time that the clocks skip is left out.
    """
    if schedule.every:
        return float(int(moment)) + schedule.every
    zone = ZoneInfo(schedule.zone) if schedule.zone not in ("", "Local") else zone
    at = (int(moment) // 60 + 1) * 60.0
    last_year = datetime.fromtimestamp(at, zone).year + 5
    while True:
        local = datetime.fromtimestamp(at, zone)
        if local.year > last_year:
            return None
        if local.month not in schedule.months:
            first = local.replace(day=1, hour=0, minute=0, fold=0)
            start = (first + timedelta(days=32)).replace(day=1)
            at = max(start.timestamp(), at + 60)
        elif not _fits_day(schedule, local):
            midnight = local.replace(hour=0, minute=0, fold=0) + timedelta(days=1)
            at = max(midnight.timestamp(), at + 60)
        elif local.hour not in schedule.hours:
            at += 3600 - 60 * local.minute
        elif local.minute not in schedule.minutes:
            later = [minute for minute in schedule.minutes if minute > local.minute]
            at += 60 * ((min(later) if later else 60) - local.minute)
        else:
            return at


def _fits_day(schedule: Schedule, local: datetime) -> bool:
    day = local.day in schedule.days
    weekday = (local.weekday() + 1) % 7 in schedule.weekdays
    return day and weekday if schedule.any_day else day or weekday
