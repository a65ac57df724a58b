"""A fixed part of the command lines of the differential runner; ``runner.py`` runs all of them."""

from __future__ import annotations

import os

import pytest

from tests.original_programs import require_original
from tests.support import require_program
from tests.tools.kubectl.differential.command_lines import general, lines, special
from tests.tools.kubectl.differential.runner import is_known, known, run_all

EVERY, EVERY_SPECIAL = 80, 40


def test_there_are_enough_lines() -> None:
    assert len(lines()) >= 2000


@pytest.mark.slow
def test_a_part_of_all_lines_is_run_alike() -> None:
    original = os.environ.get("KUBECTL") or str(require_program("kubectl"))
    _compare(original, general()[::EVERY])


@pytest.mark.slow
def test_a_part_of_the_lines_for_our_version_is_run_alike() -> None:
    _compare(require_original("kubectl"), special()[::EVERY_SPECIAL])


def _compare(original: str, chosen: list[str]) -> None:
    version, differences = run_all(original, chosen)
    listed = known()
    wrong = [entry.text for entry in differences if not is_known(entry, version, listed)]
    assert not wrong, f"{len(wrong)} lines differ\n" + "\n".join(wrong)
