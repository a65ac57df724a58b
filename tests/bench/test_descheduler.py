"""The benchmark of the descheduler, with few nodes."""

from __future__ import annotations

import json

import pytest

from bench import descheduler


def test_a_pass(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--nodes=20", "--pods=600", "--rounds=1"]
    assert descheduler.main([*asked, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["pass_seconds"] > 0 and len(result["plugins"]) == 10
    assert descheduler.main(asked) == 0
    assert "a pass: " in capsys.readouterr().out
