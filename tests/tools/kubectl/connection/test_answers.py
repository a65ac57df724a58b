"""Answers of servers that are none: they are told about, and nothing is done with them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.kubectl.connection.answers import checked
from pybernetes.tools.kubectl.connection.json_text import loads
from pybernetes.tools.kubectl.errors import ApiError, CommandError


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"kind": "Pod", "metadata": {"name": "a", "labels": None}, "spec": 1},
        {"items": None, "metadata": {"continue": ""}},
        {"kind": "Table", "columnDefinitions": [{"name": "a"}], "rows": [{"cells": [1], "object": None}]},
        {"kind": "Status", "code": 404, "details": {"causes": [{"field": "x"}]}},
        {"metadata": {"annotations": {"a": ""}, "ownerReferences": [{}], "finalizers": ["x"]}},
    ],
)
def test_answers(value: Any) -> None:
    assert checked(value) is value


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "it is not an object"),
        ([], "it is not an object"),
        ({"kind": 1}, "kind is not a string"),
        ({"metadata": "x"}, "metadata is not an object"),
        ({"metadata": {"name": 1}}, "metadata.name is not a string"),
        ({"metadata": {"labels": []}}, ""),  # as good as none
        ({"metadata": {"labels": ["x"]}}, "metadata.labels is not an object"),
        ({"metadata": {"labels": {"a": 1}}}, "metadata.labels is not an object of strings"),
        ({"metadata": {"ownerReferences": [1]}}, "metadata.ownerReferences[] is not an object"),
        ({"items": {}}, "items is not a list"),
        ({"items": [1]}, "items[] is not an object"),
        ({"items": [{"metadata": []}]}, "metadata is not an object"),
        ({"rows": [{"cells": 1}]}, "cells is not a list"),
        ({"rows": [{"object": 1}]}, "object is not an object"),
        ({"columnDefinitions": [{}]}, "columnDefinitions[].name is not a string"),
        ({"kind": "Status", "code": "x"}, "code is not a number"),
        ({"kind": "Status", "details": []}, "details is not an object"),
        ({"kind": "Status", "details": {"causes": ["x"]}}, "details.causes[] is not an object"),
    ],
)
def test_what_makes_no_sense(value: Any, problem: str) -> None:
    if not problem:
        checked(value)
        return
    with pytest.raises(CommandError) as caught:
        checked(value)
    assert caught.value.message == f"the server's answer makes no sense: {problem}"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("kind", "code", "message", "details", "causes", "field")), inner)
    ),
)


@given(_JSON)
def test_a_status_that_passes_can_be_told(value: Any) -> None:
    status = {
        **(value if isinstance(value, dict) else {"details": value}),
        "kind": "Status",
        "reason": "Invalid",
    }
    try:
        error = ApiError(checked(status), 422)
    except CommandError:
        return
    assert isinstance(error.text(), str) and isinstance(error.short(), str)


def test_half_a_character_can_be_printed() -> None:
    assert loads(b'{"a\\ud800": ["\\uDC00", "\\ud83d\\ude00"]}') == {"a\ufffd": ["\ufffd", "\U0001f600"]}
    assert loads('"\\u00e4"') == "ä"
