"""Figures and their table."""

import pytest

from bench.harness.report import percentile, table
from tests.bench.results import result


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 51), (90, 91), (99, 100), (100, 100)])
def test_percentile(percent: float, expected: float) -> None:
    assert percentile(range(1, 101), percent) == expected


def test_percentile_of_nothing_is_zero() -> None:
    assert percentile([], 50) == 0


def test_the_table_shows_every_figure() -> None:
    text = table(result(50))
    assert "get-1" in text and "50.00" in text and "python 0.50" in text
    assert "ready, as found: 2.0 s" in text
    assert "memory, process 1 before: 100.0 MB" in text
