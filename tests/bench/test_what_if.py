"""The benchmark of what-if runs, and measures every question."""

from __future__ import annotations

import json

import pytest

from bench import what_if


def test_it_measures_every_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert what_if.main(["--nodes", "40", "--pods", "200", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    asked = {words.split()[0] for words in result["seconds"]}
    assert asked == {"the", "schedule", "drain", "lose", "add", "fit", "scale"}
    assert (result["nodes"], result["pods"]) == (40, 200)
