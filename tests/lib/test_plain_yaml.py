"""The plain part of YAML agrees with the library."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib import plain_yaml
from tests.lib.yaml_values import PLAIN


@given(st.dictionaries(st.text("abcde", min_size=1, max_size=5), PLAIN, max_size=4))
def test_plain_yaml_agrees_with_the_library_or_gives_up(value: dict[str, Any]) -> None:
    text = yaml.safe_dump(value)
    try:
        assert plain_yaml.parse(text) == yaml.safe_load(text)
    except plain_yaml.NotPlain:
        pass


@given(st.dictionaries(st.text("abcde", min_size=1, max_size=5), PLAIN, max_size=4), st.booleans())
def test_values_in_brackets_agree_with_the_library_or_are_given_up(
    value: dict[str, Any], as_json: bool
) -> None:
    text = json.dumps(value, indent=2) if as_json else yaml.safe_dump(value, default_flow_style=True)
    try:
        assert plain_yaml.parse(text) == yaml.safe_load(text)
    except plain_yaml.NotPlain:
        pass


@pytest.mark.parametrize(
    "text",
    [
        "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}, {name: b}]\nusers: []",
        "- {name: a}\n- [b, c]\n- [ ]",
        '{"kind": "Config", "preferences": {},\n "users": [{"name": "a",\n  "user": {"token": "t"}}]}',
    ],
)
def test_a_file_in_brackets_is_read_without_the_library(text: str) -> None:
    assert plain_yaml.parse(text) == yaml.safe_load(text)


@given(st.text("ab:, {}[]\"'#\n-", max_size=25))
def test_any_text_in_brackets_is_read_as_the_library_reads_it_or_given_up(text: str) -> None:
    text = f"a: [{text}]"
    try:
        value = plain_yaml.parse(text)
    except plain_yaml.NotPlain:
        return
    assert value == yaml.safe_load(text)
