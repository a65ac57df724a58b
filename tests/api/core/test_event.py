"""Event of the core group."""

import pytest

from pybernetes.api.core import event
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name

CORE = event.RESOURCE
INVOLVED = {"kind": "Pod", "namespace": "default", "name": "p", "fieldPath": "spec.c"}


def test_empty_parts_are_written() -> None:
    new = create(CORE, {"involvedObject": INVOLVED})[0]
    assert new["source"] == {} and new["reportingComponent"] == "" and new["reportingInstance"] == ""


MISMATCH = "does not match event.namespace"


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"involvedObject": INVOLVED}, []),
        ({}, []),
        ({"involvedObject": {"namespace": "n"}}, [f'involvedObject.namespace: Invalid value: "n": {MISMATCH}']),
        ({"metadata": {"namespace": "n"}}, [f'involvedObject.namespace: Invalid value: "": {MISMATCH}']),
        ({"involvedObject": INVOLVED, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingComponent": "a/b/c",
          "reportingInstance": "x" * 129, "message": "x" * 1025},
         ["reportingInstance: Invalid value: \"\": can have at most 128 characters", "action: Required value",
          "reason: Required value", 'message: Invalid value: "": can have at most 1024 characters']),
    ],
)  # fmt: skip
def test_checks_of_the_core_form(obj: Object, expected: list[str]) -> None:
    errors = [error for error in create(CORE, obj)[1] if not error.startswith("reportingComponent")]
    assert errors == expected


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({}, {"Last Seen": "<unknown>", "First Seen": "<unknown>", "Count": 1, "Object": ""}),
        ({"firstTimestamp": "2027-01-15T07:00:00Z", "lastTimestamp": "2027-01-15T07:59:50Z", "count": 3},
         {"Last Seen": "10s", "First Seen": "60m", "Count": 3}),
        ({"eventTime": "2027-01-15T07:59:00.000000Z", "series": {"count": 7, "lastObservedTime": "2027-01-15T07:59:55.000000Z"}},
         {"Last Seen": "5s", "First Seen": "60s", "Count": 7}),
        ({"source": {"component": "kubelet", "host": "n"}, "involvedObject": {"kind": "Node"}},
         {"Source": "kubelet, n", "Object": "node"}),
    ],
)  # fmt: skip
def test_columns(obj: Object, expected: Object) -> None:
    shown = row_by_name(CORE, create(CORE, obj)[0])
    assert {key: shown[key] for key in expected} == expected
