from pybernetes.api.storage.volumeattributesclass import RESOURCE
from tests.api.writes import create_errors, row, update_errors

CLASS = {"driverName": "example.com", "parameters": {"iops": "9"}}


def test_create() -> None:
    assert create_errors(RESOURCE, CLASS) == []
    assert create_errors(RESOURCE, {}) == [
        "driverName: Required value",
        "parameters: Required value: must contain at least one key/value pair",
    ]


def test_update() -> None:
    changed = {"driverName": "other", "parameters": {"iops": "8"}}
    assert update_errors(RESOURCE, CLASS, changed) == [
        "driverName: Forbidden: updates to driverName are forbidden.",
        "parameters: Forbidden: updates to parameters are forbidden.",
    ]


def test_columns() -> None:
    assert row(RESOURCE, CLASS) == ["name", "example.com"]
