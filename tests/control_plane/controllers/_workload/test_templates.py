"""From templates to pods: hashes, labels, shares."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers._workload.templates import hash_of, safe, scaled, without_label
from tests.control_plane.controllers.builders import template


def test_hashes() -> None:
    assert hash_of({"a": 1, "b": 2}) == hash_of({"b": 2, "a": 1})
    assert len({hash_of("x"), hash_of("x", 0), hash_of("x", 1), hash_of("y")}) == 4
    assert safe("0123456789") == "456789bcdf"


def test_labels_are_taken_off() -> None:
    given = template(extra="x")
    assert without_label(given, "extra") == template()
    assert without_label(given, "none") is given
    assert without_label({"metadata": {"labels": {"a": "b"}}}, "a") == {"metadata": {}}


@pytest.mark.parametrize(
    ("value", "total", "up", "expected"),
    [(3, 10, True, 3), ("25%", 10, True, 3), ("25%", 10, False, 2), ("0%", 10, True, 0), (None, 10, True, 0), ("150%", 4, True, 6)],
)  # fmt: skip
def test_shares(value: Any, total: int, up: bool, expected: int) -> None:
    assert scaled(value, total, up) == expected
