"""The benchmark of decisions, with few nodes."""

from __future__ import annotations

import json

import pytest

from bench import decisions


@pytest.mark.parametrize("workload", ["basic", "topology-spread"])
def test_decisions(workload: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--nodes=5", "--nodes=10", "--pods=20", f"--workload={workload}"]
    assert decisions.main([*asked, "--json"]) == 0
    microseconds = json.loads(capsys.readouterr().out)["microseconds_per_pod"]
    assert microseconds.keys() == {"5", "10"} and all(value > 0 for value in microseconds.values())
    assert decisions.main(asked) == 0
    assert "10 nodes" in capsys.readouterr().out
