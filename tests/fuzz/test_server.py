"""A short attack on a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.server import attack
from fuzz.server.requests import Maker


def test_the_same_seed_makes_the_same_requests() -> None:
    def some(seed: int) -> list[bytes]:
        maker = Maker(seed, "token")
        return [maker.next().data for _ in range(200)] + [maker.odd() for _ in range(20)]

    assert some(1) == some(1) != some(2)


@pytest.mark.e2e
def test_an_attack_of_some_requests_breaks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = attack.run(120, 14, tmp_path, connections=4, most=2500)
    assert failures == 0, capsys.readouterr().out
