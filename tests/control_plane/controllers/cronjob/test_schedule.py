"""The times of a schedule that were missed."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.controllers.cronjob import schedule
from tests.control_plane.controllers.cronjob.cron_jobs import at, cron_job


@pytest.mark.parametrize(
    ("text", "now", "latest", "number"),
    [
        ("*/10 * * * *", "08:09:00", None, 0),
        ("*/10 * * * *", "08:10:00", "08:10:00", 0),
        ("*/10 * * * *", "08:20:00", "08:20:00", 2),
        ("0 */3 * * *", "23:00:00", "21:00:00", 5),
        ("0,59 * * * *", "10:30:00", "10:00:00", 92),
        ("@every 1m", "08:07:30", "08:07:00", 2),
    ],
)
def test_missed(text: str, now: str, latest: str | None, number: int) -> None:
    given = cron_job(text)
    times = schedule.missed(given, schedule.Timetable(given), at(now), deadline=True)
    assert times.latest == (at(latest) if latest else None)
    assert times.number == number
