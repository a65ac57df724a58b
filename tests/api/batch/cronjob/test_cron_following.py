"""When a schedule is due next."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.batch.cronjob import cron
from pybernetes.lib import rfc3339

UTC = ZoneInfo("UTC")


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
