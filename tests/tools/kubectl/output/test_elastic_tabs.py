"""Columns line up."""

from __future__ import annotations

from pybernetes.tools.kubectl.output.elastic_tabs import align


def test_columns_line_up_only_where_lines_follow_one_another() -> None:
    assert align("a:\tb\nlonger:\tc\nplain\nx:\ty\n") == "a:       b\nlonger:  c\nplain\nx:  y\n"
