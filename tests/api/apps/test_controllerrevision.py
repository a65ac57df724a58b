from pybernetes.api.apps.controllerrevision import RESOURCE
from tests.api.writes import create_errors, row, update_errors


def test_create() -> None:
    assert create_errors(RESOURCE, {"data": {"a": 1}, "revision": 1}) == []
    assert create_errors(RESOURCE, {"revision": -1}) == [
        "revision: Invalid value: -1: must be greater than or equal to 0",
        "data: Required value: data is mandatory",
    ]
    assert create_errors(RESOURCE, {"data": 3}) == ["data: Required value: data must be a valid JSON object"]


def test_update() -> None:
    assert update_errors(RESOURCE, {"data": {"a": 1}}, {"data": {"a": 1}, "revision": 2}) == []
    assert update_errors(RESOURCE, {"data": {"a": 1}}, {"data": {"a": 2}}) == [
        'data: Invalid value: {"a":2}: field is immutable'
    ]


def test_columns() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "controller": True}
    obj = {"metadata": {"name": "a", "ownerReferences": [owner]}, "revision": 2}
    assert row(RESOURCE, obj) == ["a", "daemonset.apps/web", 2]
    assert row(RESOURCE, {}) == ["name", "<none>", 0]
