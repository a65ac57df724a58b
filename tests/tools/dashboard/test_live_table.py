from __future__ import annotations

from typing import Any

import pytest

from pybernetes.lib.discover import names
from pybernetes.tools.dashboard.live.table import columns_of, rows_of


def test_what_can_be_followed() -> None:
    assert names("pybernetes.tools.dashboard.live") == ["kinds", "log", "object", "search", "table"]


def test_rows_have_no_more_than_a_list_needs() -> None:
    meta = {
        "name": "a",
        "namespace": "b",
        "creationTimestamp": "t",
        "resourceVersion": "7",
        "managedFields": [{}],
    }
    table = {"kind": "Table", "rows": [{"cells": ["a", 1], "object": {"metadata": meta}}]}
    assert rows_of(table) == [["b/a", "b", "a", "t", "7", ["a", 1]]]


@pytest.mark.parametrize("table", [{"kind": "PodList"}, [], None, "text", {}])
def test_servers_without_tables(table: Any) -> None:
    with pytest.raises(ValueError, match="does not tell the columns"):
        rows_of(table)


def test_columns() -> None:
    table = {
        "columnDefinitions": [
            {"name": "Name", "type": "string", "priority": 0, "format": "name", "description": "d"}
        ]
    }
    assert columns_of(table) == [{"name": "Name", "type": "string", "priority": 0, "description": "d"}]
