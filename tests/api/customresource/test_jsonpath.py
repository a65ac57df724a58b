"""JSONPath, columns and selectable fields."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.customresource import columns, jsonpath
from pybernetes.api.table import cells

OBJECT = {
    "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"x.io/y": "z"}},
    "spec": {"list": [1, 2, 3], "flag": True, "map": {"k": {"v": 1}}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Sync", "n": 3}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["a"]),
        (r".metadata.annotations.x\.io/y", ["z"]),
        (".metadata.annotations['x.io/y']", ["z"]),
        (".spec.list[0]", [1]),
        (".spec.list[-1]", [3]),
        (".spec.list[1:]", [2, 3]),
        (".spec.list[*]", [1, 2, 3]),
        (".spec.map.*.v", [1]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        ("..n", [3]),
        (".status.conditions[?(@.n>2)].type", ["Sync"]),
        (".status.conditions[?(@.n)].type", ["Sync"]),
        (".nothing.here", []),
    ],
)
def test_paths(path: str, found: list[Any]) -> None:
    assert jsonpath.parse(path)(OBJECT) == found


@pytest.mark.parametrize("path", ["spec", ".spec[", ".spec[a]", ".spec[?(x)]"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(jsonpath.JsonPathError):
        jsonpath.parse(path)


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


def test_selectable_fields() -> None:
    found = columns.selectable({"selectableFields": [{"jsonPath": ".spec.flag"}, {"jsonPath": ".spec.no"}]})
    assert {name: get(OBJECT) for name, get in found.items()} == {"spec.flag": "true", "spec.no": ""}
