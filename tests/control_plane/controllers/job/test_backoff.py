"""Pauses after failures."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.controllers.job.backoff import Record, remaining
from tests.control_plane.controllers.builders import NOW
from tests.control_plane.controllers.job.jobs import run


@pytest.mark.parametrize(
    ("failures", "ago", "expected"), [(0, 0, 0), (1, 0, 10), (1, 11, 0), (3, 0, 40), (20, 0, 600)]
)
def test_pauses(failures: int, ago: float, expected: float) -> None:
    assert remaining(failures, NOW - ago, NOW) == expected


def test_a_success_ends_a_row_of_failures() -> None:
    before = Record(4, NOW - 100)
    assert before.after([run("a", "Succeeded", exit_code=0)], []) == Record()
    assert before.after([], [run("b", "Failed")]) == Record(5, NOW - 5)
    assert before.after([], []) == before
