"""What --sort-by makes of objects and tables."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.sorting import Unsortable, sort_objects, sort_tables
from pybernetes.tools.kubectl.resources.info import Info


class _Info:
    def __init__(self, value: dict[str, Any]) -> None:
        self.object = value


def _infos(*values: dict[str, Any]) -> list[Info]:
    return cast("list[Info]", [_Info(value) for value in values])


def _table(*values: Any) -> dict[str, Any]:
    return {
        "kind": "Table",
        "rows": [{"cells": [place], "object": {"spec": value}} for place, value in enumerate(values)],
    }


def _order(table: dict[str, Any]) -> list[int]:
    return [row["cells"][0] for row in table["rows"]]


@pytest.mark.parametrize(
    ("values", "order"),
    [
        ([{"n": 3}, {"n": 1}, {"n": 2}], [1, 2, 0]),
        ([{"n": "1Gi"}, {"n": "900Mi"}], [1, 0]),
        ([{"n": "b"}, {"n": "a"}], [1, 0]),
        ([{"n": 1}, {}, {"n": None}, {}], [3, 1, 2, 0]),
        ([{"n": 1}] * 14, list(range(14))),
        ([{"n": 13 - place} for place in range(14)], list(range(13, -1, -1))),
    ],
)
def test_rows_are_sorted_by_a_field(values: list[Any], order: list[int]) -> None:
    infos = _infos(_table(*values))
    assert _order(sort_tables(infos, ".spec.n")[0].object) == order


def test_a_table_that_cannot_be_sorted_is_not_shown() -> None:
    infos = _infos(_table({"n": 1}, {"n": 2}))
    assert sort_tables(infos, ".spec.nope")[0].object["rows"] == []


def test_a_single_row_is_shown_whatever_the_field() -> None:
    infos = _infos(_table({"n": 1}))
    assert _order(sort_tables(infos, ".spec[")[0].object) == [0]


def test_of_several_tables_the_field_would_be_their_own() -> None:
    infos = _infos(_table({"n": 1}), _table({"n": 2}))
    with pytest.raises(CommandError, match=r"couldn't find any field with path"):
        sort_tables(infos, ".spec.n")
    assert sort_tables(infos, "kind") == infos


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([], [], r"unsortable type: \[\]interface {}$"),
        ({}, {}, r"unsortable type: map\[string\]interface {}$"),
        (True, False, "unsortable type: bool$"),
        (1, "a", "unsortable interface: interface$"),
        (1, 1.5, "unsortable interface: interface$"),
    ],
)
def test_values_without_an_order_end_the_command(left: Any, right: Any, message: str) -> None:
    with pytest.raises(
        Unsortable, match="Field {.spec.n} in .* is an unsortable type: interface, err: " + message
    ):
        sort_tables(_infos(_table({"n": left}, {"n": right})), ".spec.n")
    with pytest.raises(Unsortable, match=r"^F.*sorter\.go.* in \*unstructured.Unstructured is"):
        sort_objects([{"spec": {"n": left}}, {"spec": {"n": right}}], ".spec.n")
