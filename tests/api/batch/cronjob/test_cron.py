"""Cron schedules: how they are read, and when they are due next."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.batch.cronjob import cron
from pybernetes.lib import rfc3339

UTC = ZoneInfo("UTC")


@pytest.mark.parametrize(
    ("text", "minutes", "any_day"),
    [
        ("* * * * *", set(range(60)), True),
        ("*/15 * * * *", {0, 15, 30, 45}, True),
        ("5/20 * 1 * *", {5, 25, 45}, True),
        ("1,2-4 0 1 1 mon-fri", {1, 2, 3, 4}, False),
        ("@hourly", {0}, True),
        ("? ? ? JAN-mar ?", set(range(60)), True),
    ],
)
def test_parse(text: str, minutes: set[int], any_day: bool) -> None:
    schedule = cron.parse(text)
    assert (set(schedule.minutes), schedule.any_day) == (minutes, any_day)


def test_every() -> None:
    assert cron.parse("@every 1h30m").every == 5400
    assert cron.parse("@every 1.5s").every == 1.5
    assert cron.parse("TZ=Europe/Berlin 0 0 * * 0").zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("@often", "unrecognized descriptor: @often"),
        ("@every soon", 'failed to parse duration @every soon: time: invalid duration "soon"'),
        ("@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'),
        ("@every 5y", 'failed to parse duration @every 5y: time: unknown unit "y" in duration "5y"'),
        ("TZ=Mars 0 0 * * *", "provided bad location Mars: unknown time zone Mars"),
        ("TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(cron.CronError) as caught:
        cron.parse(text)
    assert str(caught.value) == message


@given(st.one_of(st.text(), st.text("0123456789*/-,? @TZ=everyhms.+")))
def test_any_text(text: str) -> None:
    try:
        cron.parse(text)
    except cron.CronError:
        pass


def following(text: str, after: str, zone: str = "UTC") -> str | None:
    due = cron.following(cron.parse(text), rfc3339.parse(after), ZoneInfo(zone))
    return rfc3339.seconds(due) if due is not None else None


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
        ("* * * * *", "2026-01-01T00:00:59.9Z", "2026-01-01T00:01:00Z"),
        ("*/15 * * * *", "2026-07-09T14:45:00Z", "2026-07-09T15:00:00Z"),
        ("20-35/15 * * * *", "2026-07-09T14:46:00Z", "2026-07-09T15:20:00Z"),
        ("0 9 * * 1-5", "2026-03-06T10:00:00Z", "2026-03-09T09:00:00Z"),  # over a weekend
        ("0 0 1 1 *", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 31 * *", "2026-02-01T00:00:00Z", "2026-03-31T00:00:00Z"),
        ("0 0 13 * 5", "2026-03-01T00:00:00Z", "2026-03-06T00:00:00Z"),  # the 13th or a Friday
        ("0 0 13 * *", "2026-03-01T00:00:00Z", "2026-03-13T00:00:00Z"),
        ("0 0 30 2 *", "2026-01-01T00:00:00Z", None),
        ("@hourly", "2026-01-01T00:30:00Z", "2026-01-01T01:00:00Z"),
        ("@every 90s", "2026-01-01T00:00:00.5Z", "2026-01-01T00:01:30Z"),
        ("TZ=Asia/Tokyo 0 9 * * *", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    ],
)
def test_following(text: str, after: str, expected: str | None) -> None:
    assert following(text, after) == expected


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        # On 8 March 2026 the clocks of New York go from 2:00 to 3:00, on 1 November from 2:00 back to 1:00.
        ("30 2 * * *", "2026-03-08T05:00:00Z", "2026-03-09T06:30:00Z"),
        ("0 3 * * *", "2026-03-08T05:00:00Z", "2026-03-08T07:00:00Z"),
        ("0 * * * *", "2026-03-08T06:00:00Z", "2026-03-08T07:00:00Z"),
        ("30 1 * * *", "2026-11-01T04:00:00Z", "2026-11-01T05:30:00Z"),
        ("30 1 * * *", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"),
        ("0 0 * * *", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"),
    ],
)
def test_clocks_that_change(text: str, after: str, expected: str) -> None:
    assert following(text, after, "America/New_York") == expected


@given(
    text=st.sampled_from(["*/7 * * * *", "5 4 * * 0", "0 0 1 */2 *", "59 23 31 12 *", "0 12 * 2 1"]),
    after=st.integers(1_700_000_000, 1_900_000_000),
    zone=st.sampled_from(["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]),
)
def test_it_goes_forward_in_whole_minutes(text: str, after: int, zone: str) -> None:
    schedule = cron.parse(text)
    due = cron.following(schedule, after, ZoneInfo(zone))
    assert due is not None and due > after and due % 60 == 0
    # Nothing in between was left out.
    assert cron.following(schedule, due - 1, ZoneInfo(zone)) == due
