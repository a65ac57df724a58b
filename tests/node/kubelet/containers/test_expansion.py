"""Variables in the texts of a pod."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.kubelet.containers.expansion import LONGEST, TooLong, expand, expand_all, missing


@pytest.mark.parametrize(
    ("text", "result"),
    [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A $", "$A $"), ("$(A", "$(A"), ("$$$$", "$$"), ("", "")],
)
def test_expansion(text: str, result: str) -> None:
    assert expand(text, {"A": "1"}) == result


@given(st.text("$()A").map(lambda text: text * 2))
def test_what_is_no_reference_stays(text: str) -> None:
    """The same as one pattern for all of it, which takes longer."""
    whole = re.compile(r"\$(?:(\$)|\(([^)]*)\))")
    plain = whole.sub(lambda match: "$" if match[1] else {"A": "1"}.get(match[2], match[0]), text)
    assert expand(text, {"A": "1"}) == plain
    assert missing(text, {"A": "1"}) == [
        match[2] for match in whole.finditer(text) if not match[1] and match[2] != "A"
    ]


def test_references_that_never_end_take_no_time() -> None:
    text = "$(" * 500_000
    began = time.process_time()
    assert expand(text, {}) == text and missing(text, {}) == []
    assert time.process_time() - began < 10  # a moment; looking for the end of each takes hours


def test_what_no_program_can_be_started_with_is_not_made() -> None:
    long = {"A": "x" * (LONGEST // 10)}
    assert len(expand("$(A)" * 9, long)) == 9 * len(long["A"])
    assert len(expand_all(["$(A)"] * 9, long)) == 9
    with pytest.raises(TooLong, match="argument list too long"):
        expand("$(A)" * 1_000_000, long)
    with pytest.raises(TooLong):
        expand_all(["$(A)"] * 1_000_000, long)
