"""Arithmetic on resource lists, and what pods ask for as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import quantity, resource_list

TEXTS = st.one_of(
    st.integers(0, 10**6).map(lambda number: quantity.canonical(f"{number}m")),
    st.integers(0, 10**6).map(lambda number: quantity.canonical(f"{number}Ki")),
    st.integers(0, 10**4).map(lambda number: quantity.canonical(f"{number}k")),
)
LISTS = st.dictionaries(st.sampled_from(["cpu", "memory", "pods"]), TEXTS)


@pytest.mark.parametrize(
    ("left", "right", "total", "difference"),
    [
        ("0", "1Gi", "1Gi", "-1Gi"),
        ("1Gi", "512Mi", "1536Mi", "512Mi"),
        ("500m", "0.5", "1", "0"),
        ("1", "100m", "1100m", "900m"),
        ("1Gi", "1G", "2073741824", "73741824"),
        ("100M", "1Mi", "101048576", "98951424"),
        ("2Ki", "1536", "3584", "512"),
    ],
)
def test_sums_keep_the_format_of_the_first(left: str, right: str, total: str, difference: str) -> None:
    assert quantity.add(left, right) == total
    assert quantity.subtract(left, right) == difference


@given(left=TEXTS, right=TEXTS)
def test_sums_are_exact(left: str, right: str) -> None:
    total = quantity.add(left, right)
    assert quantity.parse(total) == quantity.parse(left) + quantity.parse(right)
    assert quantity.parse(quantity.canonical(total)) == quantity.parse(total)
    assert quantity.parse(quantity.subtract(total, right)) == quantity.parse(left)


@given(left=LISTS, right=LISTS)
def test_lists(left: dict[str, str], right: dict[str, str]) -> None:
    total = resource_list.add(left, right)
    assert total.keys() == left.keys() | right.keys()
    assert resource_list.equal(total, resource_list.add(right, left))
    assert not resource_list.exceeding(left, total) and not resource_list.negative(total)
    grown = resource_list.grown(total, left)
    assert resource_list.equal(resource_list.nonzero(grown), resource_list.nonzero(right))
    assert all(quantity.parse(amount) >= 0 for amount in resource_list.grown(left, total).values())
    most = resource_list.maximum([left, right])
    assert not resource_list.exceeding(left, most) and not resource_list.exceeding(right, most)


def test_texts() -> None:
    assert resource_list.text({"pods": "2", "cpu": "1"}) == "cpu=1,pods=2"
    assert resource_list.mask({"a": "1", "b": "2"}, ["b", "c"]) == {"b": "2"}
    assert resource_list.exceeding({"a": "2", "b": "9"}, {"a": "1", "c": "0"}) == ["a"]
    assert resource_list.equal({"a": "1Gi"}, {"a": "1024Mi"}) and not resource_list.equal(
        {"a": "1"}, {"b": "1"}
    )
