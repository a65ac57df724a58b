"""Sets of completion indexes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.controllers.job.indexes import Indexes


@pytest.mark.parametrize(
    ("text", "limit", "expected", "total"),
    [
        ("", 5, "", 0),
        ("0", 5, "0", 1),
        ("0,1", 5, "0,1", 2),
        ("0-2", 5, "0-2", 3),
        ("0,1,2,5-7", 10, "0-2,5-7", 6),
        ("0-9", 5, "0-4", 5),
        ("7", 5, "", 0),
        ("x,1-y,3", 5, "3", 1),
    ],
)
def test_indexes_are_text(text: str, limit: int, expected: str, total: int) -> None:
    indexes = Indexes.parse(text, limit)
    assert (str(indexes), len(indexes)) == (expected, total)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)))
def test_indexes_are_sets(left: set[int], right: set[int]) -> None:
    one, other = Indexes().with_indexes(left), Indexes().with_indexes(right)
    assert len(one) == len(left)
    assert {n for n in range(61) if n in one} == left
    assert Indexes.parse(str(one), 100) == one
    assert list(one.missing(61)) == sorted(set(range(61)) - left)
    assert one | other == Indexes().with_indexes(left | right)
    assert one.common(other) == len(left & right)
