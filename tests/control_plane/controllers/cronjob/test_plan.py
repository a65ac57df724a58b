"""The decisions of the CronJob controller."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.controllers.cronjob.plan import Plan, plan, started
from tests.control_plane.controllers.cronjob.cron_jobs import at, cron_job, job

REFERENCE = {"kind": "CronJob", "name": "tick", "uid": "uid-tick", "controller": True}


def planned(given: Object, now: str, *jobs: Object, there: bool = True) -> Plan:
    return plan(given, list(jobs), REFERENCE, at(now), lambda _: there)


def reasons(result: Plan) -> list[str]:
    return [event[1] for event in result.events]


NAME = f"tick-{int(at('08:10:00')) // 60}"
EARLIER = f"tick-{int(at('08:00:00')) // 60}"
CASES: list[tuple[str, Object, str, bool, list[str]]] = [
    ("not yet", cron_job(), "08:09:59", False, []),
    ("now", cron_job(), "08:10:00", True, []),
    ("a little late", cron_job(), "08:14:00", True, []),
    ("done already", cron_job(last="08:10:00"), "08:14:00", False, []),
    ("suspended", cron_job(suspend=True), "08:10:00", False, []),
    ("too late", cron_job(startingDeadlineSeconds=60), "08:12:00", False, []),
    ("just in time", cron_job(startingDeadlineSeconds=60), "08:10:30", True, []),
    ("one still runs", cron_job(active=[EARLIER]), "08:10:00", True, []),
    ("and forbids it", cron_job(active=[EARLIER], concurrencyPolicy="Forbid"), "08:10:00", False, ["JobAlreadyActive"]),
    ("the same one runs", cron_job(active=[NAME]), "08:10:00", False, []),
    ("often missed", cron_job("* * * * *", created="01:00:00"), "08:10:00", True, ["TooManyMissedTimes"]),
    ("nonsense", cron_job("a b c"), "08:10:00", False, ["UnparseableSchedule"]),
    ("nowhere", cron_job(timeZone="Mars/Olympus"), "08:10:00", False, ["UnknownTimeZone"]),
    ("a zone in the schedule", cron_job("TZ=Asia/Tokyo 10 17 * * *", timeZone=None), "08:10:00", True,
     ["UnsupportedSchedule"]),
    ("never", cron_job("0 0 30 2 *"), "08:10:00", False, ["InvalidSchedule"]),
    ("in another zone", cron_job("10 10 * * *", timeZone="Europe/Kyiv"), "08:10:00", True, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "now", "makes", "told"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_is_due(given: Object, now: str, makes: bool, told: list[str]) -> None:
    running = [job(reference["name"]) for reference in given["status"].get("active", ())]
    result = planned(given, now, *running)
    assert (result.create is not None) == makes
    assert reasons(result) == told


def test_the_job() -> None:
    result = planned(cron_job(timeZone="Europe/Berlin"), "08:12:00")
    assert result.create is not None
    assert result.create["metadata"] == {
        "name": NAME, "namespace": "default", "labels": {"a": "b"}, "ownerReferences": [REFERENCE],
        "annotations": {"c": "d", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-03-10T09:10:00+01:00"},
    }  # fmt: skip
    assert result.again == pytest.approx(480.1)
    made = {"metadata": {**result.create["metadata"], "uid": "u", "resourceVersion": "7"}}
    status = started(result.status, made, result.due)
    assert status["lastScheduleTime"] == "2026-03-10T08:10:00Z"
    assert status["active"][0]["uid"] == "u"


def test_utc_is_written_short() -> None:
    created = planned(cron_job(), "08:10:00").create
    assert created is not None
    stamp = created["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert stamp == "2026-03-10T08:10:00Z"


def test_a_late_one_is_reported_once_it_is_missed() -> None:
    result = planned(cron_job(startingDeadlineSeconds=30, last="08:00:00"), "08:10:45")
    assert result.create is None
    assert result.again == pytest.approx(555.1)


def test_replacing() -> None:
    given = cron_job(active=[EARLIER], concurrencyPolicy="Replace")
    result = planned(given, "08:10:00", job(EARLIER))
    assert [deleted["metadata"]["name"] for deleted in result.delete] == [EARLIER]
    assert result.create is not None and result.status["active"] == []


def test_active_jobs_end_or_go_missing() -> None:
    given = cron_job(active=["a", "b", "c"], last="08:10:00")
    result = planned(given, "08:11:00", job("a", "Complete", completed="08:10:30"), job("b"), there=False)
    assert [reference["name"] for reference in result.status["active"]] == ["b"]
    assert reasons(result) == ["SawCompletedJob", "MissingJob"]
    assert result.events[0][2] == "Saw completed job: a, condition: Complete"
    assert result.status["lastSuccessfulTime"] == "2026-03-10T08:10:30Z"


def test_a_job_that_nobody_remembers() -> None:
    assert reasons(planned(cron_job(last="08:10:00"), "08:11:00", job("x"))) == ["UnexpectedJob"]


def test_old_jobs_go() -> None:
    given = cron_job(successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0, last="08:10:00")
    jobs = [job("a", "Complete", "07:00:00"), job("b", "Complete", "08:00:00"), job("c", "Failed"), job("d")]
    result = planned(given, "08:11:00", *jobs)
    assert [deleted["metadata"]["name"] for deleted in result.delete] == ["a", "c"]


def test_a_cron_job_that_goes_makes_no_more() -> None:
    given = cron_job()
    given["metadata"]["deletionTimestamp"] = "2026-03-10T08:09:00Z"
    assert planned(given, "08:10:00").create is None
