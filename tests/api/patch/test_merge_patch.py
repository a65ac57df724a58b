"""Merge patch: the examples of RFC 7386, and the way from one document to another."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api.errors import StatusError
from pybernetes.api.patch import json_patch, merge_patch

VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(st.text("abc", max_size=2), VALUES, max_size=4)


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "x"}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
    ],
)
def test_examples(document: Any, patch: Any, expected: Any) -> None:
    before = copy.deepcopy(document)
    assert merge_patch.apply(document, patch) == expected
    assert document == before


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (None, "Invalid JSON Patch"),
        (["a"], f"error decoding patch: json: cannot unmarshal array into {json_patch.ANY_OBJECT}"),
    ],
)
def test_malformed(patch: Any, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        merge_patch.apply({"a": 1}, patch)
    assert (caught.value.code, caught.value.message) == (400, message)


def difference(old: Any, new: Any) -> Any:
    patch = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            patch[key] = difference(old[key], value)
        elif key not in old or old[key] != value or type(old[key]) is not type(value):
            patch[key] = value
    return patch


@given(DOCUMENTS, DOCUMENTS)
def test_round_trip(old: Any, new: Any) -> None:
    assert merge_patch.apply(old, difference(old, new)) == new


@given(DOCUMENTS, DOCUMENTS)
def test_applying_twice_changes_nothing_more(document: Any, patch: Any) -> None:
    once = merge_patch.apply(document, patch)
    assert merge_patch.apply(once, patch) == once
