"""Event of events.k8s.io."""

import pytest

from pybernetes.api.core import event as old_form
from pybernetes.api.events import event as new_form
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update

CORE, NEW = old_form.RESOURCE, new_form.RESOURCE
INVOLVED = {"kind": "Pod", "namespace": "default", "name": "p", "fieldPath": "spec.c"}
FULL = {
    "regarding": INVOLVED, "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "c",
    "reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal", "note": " n ",
}  # fmt: skip


def test_both_forms_are_the_same_object() -> None:
    event = create(NEW, {**FULL, "deprecatedCount": 2})[0]
    assert NEW.to_storage and NEW.from_storage and NEW.storage_version == ("", "v1")
    stored = NEW.to_storage(event)
    assert stored["apiVersion"] == "v1" and stored["involvedObject"] == INVOLVED
    assert stored["message"] == " n " and stored["reportingComponent"] == "c" and stored["count"] == 2
    assert NEW.from_storage(stored) == event
    core, new = row_by_name(CORE, stored), row_by_name(NEW, event)
    assert core == new
    assert core["Object"] == "pod/p" and core["Message"] == "n" and core["Source"] == "c, i"
    assert NEW.selectable["regarding.name"](event) == CORE.selectable["involvedObject.name"](stored) == "p"
    assert CORE.selectable["source"](stored) == "c"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"eventTime": None}, ["eventTime: Required value"]),
        ({"type": "X"}, ['type: Invalid value: "": has invalid value: X']),
        ({"deprecatedCount": 1}, ['count: Invalid value: "": needs to be unset']),
        ({"deprecatedSource": {"host": "h"}}, ['source: Invalid value: "": needs to be unset']),
        (
            {"series": {"count": 1}},
            [
                'series.count: Invalid value: "": should be at least 2',
                "series.lastObservedTime: Required value",
            ],
        ),
    ],
)
def test_checks_of_the_new_form(changes: Object, expected: list[str]) -> None:
    full = {key: value for key, value in {**FULL, **changes}.items() if value is not None}
    assert create(NEW, full)[1] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}, []),
        ({"reason": "x"}, ['reason: Invalid value: "x": field is immutable']),
        ({"note": "x"}, ['message: Invalid value: "x": field is immutable']),
        ({"reportingController": "x"}, ['reportingController: Invalid value: "x": field is immutable']),
    ],
)
def test_updates_of_the_new_form(changes: Object, expected: list[str]) -> None:
    assert update(NEW, create(NEW, FULL)[0], changes)[1] == expected
