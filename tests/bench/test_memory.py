"""The benchmark of memory, with little to do."""

from __future__ import annotations

import json

import pytest

from bench import memory
from bench.harness import burst


def test_it_weighs_what_a_burst_leaves(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(burst, "_REST_SECONDS", 0.1)
    assert memory.main(["--burst", "20", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert list(results)[:2] == ["at the beginning", "with 20 pods"] and min(results.values()) > 20


@pytest.mark.slow
def test_it_weighs_a_control_plane_after_each_round(capsys: pytest.CaptureFixture[str]) -> None:
    assert memory.main(["--rounds", "2", "--warm", "1", "--limit", "1000", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["megabytes"]) == 3 and min(result["megabytes"]) > 20
