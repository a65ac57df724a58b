"""Bars fit into any terminal, and say the truth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.what_if import picture
from pybernetes.tools.what_if.cluster import Use

PLAIN = picture.style("ascii", False)
FANCY = picture.style("utf-8", False)


def use(cpu: int, memory: int = 0) -> Use:
    return Use(cpu, 100, memory, 100, 1, 10)


@pytest.mark.parametrize(
    ("before", "after", "bar"),
    [
        (0.0, 0.0, ".........."), (0.5, 0.5, "#####....."), (0.2, 0.6, "##++++...."), (0.6, 0.2, "##----...."),
        (1.0, 1.0, "##########"), (0.5, 3.0, "#####+++++"),
    ],
)  # fmt: skip
def test_a_bar(before: float, after: float, bar: str) -> None:
    assert picture.bar(before, after, 10, PLAIN) == bar


def test_colours_only_when_wanted() -> None:
    assert "\x1b" not in picture.bar(0.2, 0.6, 10, FANCY)
    assert "\x1b[33m" in picture.bar(0.2, 0.6, 10, picture.style("utf-8", True))
    assert picture.style("latin-1", False).both == "#" and FANCY.both == "█"


uses = st.dictionaries(st.sampled_from(["a", "node-with-a-name-that-goes-on-and-on.example.com", "c"]),
                       st.builds(use, st.integers(0, 300), st.integers(0, 300)), max_size=3)  # fmt: skip


@given(uses, uses, st.integers(30, 200))
def test_every_line_fits(before: dict[str, Use], after: dict[str, Use], width: int) -> None:
    for line in picture.draw(before, after, width, FANCY):
        assert len(line) <= width, (line, width)


def test_only_what_changes_is_drawn_and_many_nodes_are_summed_up() -> None:
    before = {f"n{number:03}": use(10) for number in range(100)}
    lines = picture.draw(before, {**before, "n007": use(60)}, 100, PLAIN)
    assert [line.split()[0] for line in lines] == ["NODE", "n007", "CPU:", "MEMORY:"]
    assert " 10 > 60 %" in lines[1]
    lines = picture.draw(before, {name: use(20) for name in before}, 100, PLAIN)
    assert "and 80 more nodes change" in lines
    assert "before mean 10%, most 10%, deviation 0.0%; after mean 20%" in lines[-2]
