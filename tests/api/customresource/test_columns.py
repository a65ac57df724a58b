"""Columns and selectable fields."""

from __future__ import annotations

from typing import Any

from pybernetes.api.customresource import columns
from pybernetes.api.table import cells
from tests.doubling import MOST_GROWTH, Input, growth

OBJECT = {
    "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"x.io/y": "z"}},
    "spec": {"list": [1, 2, 3], "flag": True, "map": {"k": {"v": 1}}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Sync", "n": 3}]},
}


def test_columns() -> None:
    given = [
        {"name": "Flag", "type": "boolean", "jsonPath": ".spec.flag"},
        {"name": "List", "type": "string", "jsonPath": ".spec.list"},
        {"name": "Number", "type": "integer", "jsonPath": ".spec.flag"},
        {"name": "Missing", "type": "string", "jsonPath": ".spec.no"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    made = columns.columns({"additionalPrinterColumns": given})
    assert [column.name for column in made] == ["Name", "Flag", "List", "Number", "Missing", "Age"]
    assert cells(made, OBJECT, 1767225600 + 60) == ["a", True, "[1,2,3]", None, None, "60s"]
    assert [column.name for column in columns.columns({})] == ["Name", "Age"]


def test_a_path_that_does_not_fit_an_object_gives_an_empty_cell() -> None:
    given = [{"name": "A", "type": "string", "jsonPath": path} for path in (".spec.flag[0]", ".spec.list[5]")]
    made = columns.columns({"additionalPrinterColumns": given})
    assert cells(made, OBJECT, 0) == ["a", None, None]


def test_what_is_no_path_ends_the_table() -> None:
    given = [{"name": name, "type": "string", "jsonPath": name} for name in (".a", ".b[", ".c")]
    made = columns.columns({"additionalPrinterColumns": given})
    assert [column.name for column in made] == ["Name", ".a"]


def test_selectable_fields() -> None:
    getters = columns.selectable({"selectableFields": [{"jsonPath": ".spec.flag"}, {"jsonPath": ".spec.no"}]})
    assert {name: get(OBJECT) for name, get in getters.items()} == {"spec.flag": "true", "spec.no": ""}


def test_objects_that_are_shared_are_objects_too() -> None:
    class Shared(dict[str, object]):
        """A dictionary of another type, as the API server keeps decoded objects."""

    getters = columns.selectable({"selectableFields": [{"jsonPath": ".spec.flag"}]})
    assert getters["spec.flag"](Shared(OBJECT)) == "true"


def test_a_path_through_everything_takes_time_with_the_object_only() -> None:
    """Objects in objects were selected once for each way to them: 200 of them took seconds for a cell."""
    version = {
        "additionalPrinterColumns": [{"name": "x", "type": "integer", "jsonPath": ".spec..a..a..a..a..v"}]
    }
    (_, column) = columns.columns(version)

    def make(depth: int) -> dict[str, Any]:
        spec: dict[str, Any] = {"v": 7}
        for _ in range(depth):
            spec = {"a": spec, "b": {"a": 1}}
        return {"spec": spec}

    assert cells((column,), make(200), 0.0) == [7]
    deep = Input("objects in objects", make, lambda obj: cells((column,), obj, 0.0), start=50, largest=800)
    assert growth(deep) <= MOST_GROWTH
