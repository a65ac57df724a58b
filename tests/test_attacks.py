"""The attacks that need no containers, on this checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks import expressions, framing, writes
from tests.attacks._target import Target

pytestmark = pytest.mark.slow
LAUNCHER = Path(__file__).resolve().parents[1] / "pyb"
ATTACKS = {**expressions.ATTACKS, **framing.ATTACKS, **writes.ATTACKS}


@pytest.mark.parametrize("name", ATTACKS)
def test_they_are_held_off(name: str) -> None:
    with Target(LAUNCHER) as target:
        assert ATTACKS[name](target) == ""
