from typing import Any

import pytest

from pybernetes.api.batch.job.job import RESOURCE
from pybernetes.api.resource import Object
from tests.api.batch.jobs import INDEXED, a_job
from tests.api.writes import status_errors

START, END = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
DONE = {"startTime": START, "completionTime": END}


def having(*kinds: str, **status: Any) -> Object:
    return {"conditions": [{"type": kind, "status": "True"} for kind in kinds], **status}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (having("SuccessCriteriaMet", "Complete", **DONE), []),
        (having("FailureTarget", "Failed", startTime=START), []),
        (
            having("Complete", **DONE),
            [
                "conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
            ],
        ),
        (
            having("Failed", startTime=START),
            [
                "conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition"
            ],
        ),
        (
            having("SuccessCriteriaMet", "Complete", startTime=START),
            ["completionTime: Required value: completionTime is required for Complete jobs"],
        ),
        (
            {"completionTime": END},
            [
                f'completionTime: Invalid value: "{END}": '
                "cannot set completionTime when there is no Complete=True condition"
            ],
        ),
        (
            having("SuccessCriteriaMet", "Complete", startTime=END, completionTime=START),
            [f'completionTime: Invalid value: "{START}": must be equal to or after `startTime`'],
        ),
        (
            having("FailureTarget", "Failed", active=1),
            [
                "active: Invalid value: 1: active>0 is invalid for finished job",
                "startTime: Required value: startTime is required for finished job",
            ],
        ),
        ({"active": 1, "ready": 2}, ["ready: Invalid value: 2: cannot set more ready pods than active"]),
        (
            {"completedIndexes": "0"},
            [
                'completedIndexes: Invalid value: "0": '
                "cannot set non-empty completedIndexes when non-indexed completion mode"
            ],
        ),
        (
            {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a", ""]}},
            [
                'uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
                'uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty',
            ],
        ),
    ],
)
def test_first_status(status: Object, expected: list[str]) -> None:
    assert status_errors(RESOURCE, a_job(), status) == [f"status.{text}" for text in expected]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"failed": 2}, {"failed": 1}, ["failed: Invalid value: 1: cannot decrease the failed counter"]),
        (
            having("FailureTarget", "Failed", startTime=START),
            having("FailureTarget", startTime=START),
            ["conditions: Invalid value: cannot disable the terminal Failed=True condition"],
        ),
        (
            {"startTime": START},
            {"startTime": END},
            [f'startTime: Invalid value: "{END}": field is immutable for unsuspended job once set'],
        ),
        (
            having("SuccessCriteriaMet"),
            {},
            ["conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition"],
        ),
    ],
)
def test_later_status(before: Object, after: Object, expected: list[str]) -> None:
    assert status_errors(RESOURCE, a_job(), after, old=before) == [f"status.{text}" for text in expected]


@pytest.mark.parametrize(
    ("done", "failed", "expected"),
    [
        ("0-1", "2-3", []),
        (
            "0-3",
            "2",
            ['failedIndexes: Invalid value: "2": failedIndexes and completedIndexes overlap at index: 2'],
        ),
        (
            "0-3,2",
            "4",
            [
                'completedIndexes: Invalid value: "0-3,2": '
                "error parsing completedIndexes: non-increasing order, previous: 3, current: 2"
            ],
        ),
        (
            "",
            "1-2-3",
            [
                'failedIndexes: Invalid value: "1-2-3": error parsing failedIndexes: the fragment "1-2-3" violates '
                "the requirement that an index interval can have at most two parts separated by '-'"
            ],
        ),
    ],
)
def test_indexes(done: str, failed: str, expected: list[str]) -> None:
    obj = a_job(**INDEXED, backoffLimitPerIndex=1)
    status = {"completedIndexes": done, "failedIndexes": failed}
    assert status_errors(RESOURCE, obj, status) == [f"status.{text}" for text in expected]
