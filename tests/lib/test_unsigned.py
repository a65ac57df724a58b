from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.unsigned import unsigned


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("7", 7), ("007", 7), (b"120", 120), (str(2**64 - 1), 2**64 - 1), (str(2**64), None),
        ("9" * 5000, None), (b"9" * 5000, None), ("²", None), ("٣", None), ("", None), (b"", None), ("-1", None),
        ("+1", None), (" 1", None), ("1_0", None), ("1.0", None), (7, None), (None, None), ({}, None), (["1"], None),
    ],
)  # fmt: skip
def test_numbers(text: object, number: int | None) -> None:
    assert unsigned(text) == number


@given(st.integers(0, 2**64 - 1))
def test_every_number_comes_back(number: int) -> None:
    assert unsigned(str(number)) == unsigned(str(number).encode()) == number


@given(st.one_of(st.text(alphabet=st.characters(categories=["N"]), max_size=30), st.text(), st.binary()))
def test_whatever_it_is_nothing_is_raised(text: str | bytes) -> None:
    number = unsigned(text)
    assert number is None or 0 <= number < 2**64
