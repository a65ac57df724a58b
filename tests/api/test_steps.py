"""Steps of pods' creations: what is written is read again, and what others wrote does no harm."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import steps
from pybernetes.api.steps import Step


def test_what_is_written_is_read() -> None:
    told = [
        Step("queue", 1_700_000_000.25, 1_700_000_000.5),
        Step("start", 1_700_000_001.0, 1_700_000_001.125, "web"),
    ]
    assert steps.from_text(steps.to_text(told)) == told


def test_no_more_is_written_than_is_read() -> None:
    many = [Step("start", float(number), float(number) + 1, "x" * 1000) for number in range(1000)]
    text = steps.to_text(many)
    assert len(text) <= steps.MOST_BYTES
    assert len(steps.from_text(text)) == steps.MOST_STEPS


@pytest.mark.parametrize(
    "text",
    [
        None, 7, "", "{", "{}", "[[]]", "7", '[["start",1,2]]', '[["start",true,2,""]]', '[["start",-1,2,""]]',
        '[["start",1,1e300,""]]', '[["",1,2,""]]', '[[1,1,2,""]]', '[["start",1,2,{}]]', '[["start","1",2,""]]',
        "[" * 100_000, '[["start",1,2,""]]' + " " * steps.MOST_BYTES,
    ],
)  # fmt: skip
def test_what_is_no_step_is_left_out(text: object) -> None:
    assert steps.from_text(text) == []


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(orjson.dumps))
def test_any_document_is_read(document: bytes) -> None:
    for step in steps.from_text(document.decode()):
        assert 0 <= step.begin <= step.end
