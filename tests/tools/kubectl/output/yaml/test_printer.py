"""YAML is written as the library of the original writes it, with the YAML library and without."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib import plain_yaml
from pybernetes.tools.kubectl.output.yaml import library_writer, plain_writer
from pybernetes.tools.kubectl.output.yaml.printer import dumps
from tests.lib.yaml_values import PLAIN, WORDS


@given(PLAIN)
def test_what_is_printed_as_yaml_reads_back(value: Any) -> None:
    assert yaml.safe_load(dumps({"value": value})) == {"value": value}


@given(st.dictionaries(st.text("abcde", min_size=1, max_size=5), PLAIN, max_size=4))
def test_the_reader_of_plain_yaml_agrees_or_gives_up(value: dict[str, Any]) -> None:
    try:
        assert plain_yaml.parse(dumps(value)) == value
    except plain_yaml.NotPlain:
        pass


SENTENCES = st.lists(
    WORDS | st.sampled_from(["- a", "2020-01-01", "12:30:45", "1e3", "line\n", "long " * 20])
)


@given(st.dictionaries(WORDS, PLAIN | SENTENCES | SENTENCES.map(" ".join), max_size=4))
def test_the_short_way_to_yaml_agrees_with_the_library_or_gives_up(value: dict[str, Any]) -> None:
    try:
        written = plain_writer.dumps(value)
    except plain_writer.NotPlain:
        return
    assert written == library_writer.dumps(value)
