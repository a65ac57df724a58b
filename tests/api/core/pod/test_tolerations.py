"""Tolerations compared and merged, and classes that are the default."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.core.pod.tolerations import allowed, covers, merge, put
from pybernetes.api.resource import Object

ALL = {"operator": "Exists"}


def exists(key: str = "k", **more: Any) -> Object:
    return {"key": key, "operator": "Exists", **more}


def equal(value: str = "v", key: str = "k", **more: Any) -> Object:
    return {"key": key, "operator": "Equal", "value": value, **more}


@pytest.mark.parametrize(
    ("wider", "narrower", "expected"),
    [
        (ALL, exists(), True),
        (ALL, equal(effect="NoSchedule"), True),
        (exists(), equal(), True),
        (exists(), exists("other"), False),
        (exists(effect="NoSchedule"), exists(), False),
        (exists(), exists(effect="NoSchedule"), True),
        (equal(), equal("w"), False),
        ({"key": "k", "value": "v"}, equal(), True),
        (equal(), {"key": "k", "value": "v"}, False),
        (equal(), exists(), False),
        (exists(effect="NoExecute", tolerationSeconds=5), exists(effect="NoExecute"), False),
        (
            exists(effect="NoExecute", tolerationSeconds=5),
            exists(effect="NoExecute", tolerationSeconds=6),
            False,
        ),
        (
            exists(effect="NoExecute", tolerationSeconds=5),
            exists(effect="NoExecute", tolerationSeconds=4),
            True,
        ),
        (exists(effect="NoExecute"), exists(effect="NoExecute", tolerationSeconds=4), True),
        ({"key": "k", "operator": "Gt", "value": "1"}, {"key": "k", "operator": "Gt", "value": "2"}, False),
    ],
)
def test_covers(wider: Object, narrower: Object, expected: bool) -> None:
    assert covers(wider, narrower) is expected and covers(wider, wider) and covers(narrower, narrower)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([], [], []),
        ([exists()], [exists()], [exists()]),
        ([equal()], [exists()], [exists()]),
        ([exists()], [equal()], [exists()]),
        ([exists("a")], [exists("b")], [exists("a"), exists("b")]),
        ([exists("a"), exists("b")], [ALL], [ALL]),
    ],
)
def test_merge(first: list[Object], second: list[Object], expected: list[Object]) -> None:
    assert merge(first, second) == expected


TOLERATIONS = st.lists(
    st.fixed_dictionaries(
        {"operator": st.sampled_from(["Exists", "Equal"])},
        optional={
            "key": st.sampled_from(["a", "b"]),
            "value": st.sampled_from(["v", "w"]),
            "effect": st.sampled_from(["NoSchedule", "NoExecute"]),
            "tolerationSeconds": st.integers(0, 2),
        },
    ),
    max_size=5,
)


@given(first=TOLERATIONS, second=TOLERATIONS)
def test_nothing_is_lost_by_merging(first: list[Object], second: list[Object]) -> None:
    merged = merge(first, second)
    assert allowed([*first, *second], merged) and all(
        toleration in [*first, *second] for toleration in merged
    )


def test_allowed_and_put() -> None:
    assert allowed([exists()], []) and allowed([], [exists()]) and not allowed([exists("x")], [exists()])
    assert put([equal(), exists(tolerationSeconds=1)], exists()) == [equal(), exists()]
    assert put([equal()], exists()) == [equal(), exists()]
