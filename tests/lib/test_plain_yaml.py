"""The plain part of YAML agrees with the library."""

from __future__ import annotations

from typing import Any

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
