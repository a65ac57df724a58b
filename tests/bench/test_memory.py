"""The benchmark of memory, with little to do."""

from __future__ import annotations

import json

import pytest

from bench import memory


@pytest.mark.slow
def test_it_weighs_a_control_plane_after_each_round(capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.main(["--rounds", "2", "--warm", "1", "--limit", "1000", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["megabytes"]) == 3 and min(result["megabytes"]) > 20
