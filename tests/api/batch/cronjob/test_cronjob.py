from typing import Any

import pytest

from pybernetes.api.batch.cronjob import cronjob
from pybernetes.api.batch.cronjob.cronjob import RESOURCE
from pybernetes.api.resource import Object
from tests.api.batch.jobs import a_job
from tests.api.writes import create_errors, created, row, update_errors

IN_SCHEDULE = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"


def cron(schedule: str = "* * * * *", **spec: Any) -> Object:
    return {"spec": {"schedule": schedule, "jobTemplate": a_job(), **spec}}


def test_defaults() -> None:
    spec = created(RESOURCE, cron())["spec"]
    assert spec["jobTemplate"].pop("spec")["template"]["spec"]["dnsPolicy"] == "ClusterFirst"
    assert spec == {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"metadata": {}},
    }


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (cron(""), ["spec.schedule: Required value"]),
        (cron("* *"), ['spec.schedule: Invalid value: "* *": expected exactly 5 fields, found 2: [* *]']),
        (cron("TZ=UTC * * * * *"), [f'spec.schedule: Invalid value: "TZ=UTC * * * * *": {IN_SCHEDULE}']),
        (cron(timeZone="Europe/Berlin"), []),
        (cron(timeZone=""), ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string']),
        (
            cron(timeZone="Mars/Base"),
            ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'],
        ),
        (cron(timeZone="../UTC"), ['spec.timeZone: Invalid value: "../UTC": unknown time zone ../UTC']),
        (
            cron(timeZone="Local"),
            [
                'spec.timeZone: Invalid value: "Local": '
                "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
            ],
        ),
        (
            cron(concurrencyPolicy="Queue", startingDeadlineSeconds=-1),
            [
                "spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
                'spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"',
            ],
        ),
        (
            cron(jobTemplate=a_job(selector={}, manualSelector=True)),
            [
                "spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated",
                'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
            ],
        ),
        (
            {**cron(), "metadata": {"name": "n" * 53}},
            [f'metadata.name: Invalid value: "{"n" * 53}": must be no more than 52 characters'],
        ),
    ],
)
def test_create(obj: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, obj) == expected


def test_update() -> None:
    assert update_errors(RESOURCE, cron(), cron("TZ=UTC * * * * *")) == [
        f'spec.schedule: Invalid value: "TZ=UTC * * * * *": {IN_SCHEDULE}'
    ]
    assert update_errors(RESOURCE, cron(), cron(timeZone="X")) == [
        'spec.timeZone: Invalid value: "X": unknown time zone X'
    ]


def test_warnings() -> None:
    obj = created(RESOURCE, {**cron(), "metadata": {"name": "a.b"}})
    assert len(cronjob.warnings(obj, None)) == 1
    obj["spec"]["schedule"] = "TZ=UTC * * * * *"
    assert len(cronjob.warnings(obj, obj)) == 1


def test_columns() -> None:
    status = {"active": [{}, {}], "lastScheduleTime": "1970-01-01T00:00:00Z"}
    obj = cron(suspend=True, timeZone="UTC") | {"status": status}
    assert row(RESOURCE, obj, now=90.0) == [
        "name", "* * * * *", "UTC", "True", 2, "90s", "c", "i", "<none>",
    ]  # fmt: skip
    assert row(RESOURCE, cron())[2:6] == ["<none>", "<unset>", 0, "<none>"]
