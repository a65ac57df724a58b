"""The benchmark of authorization, and the promise that it holds."""

import json

import pytest

from bench import authz


def test_a_check_among_5000_bindings_is_fast(capsys: pytest.CaptureFixture[str]) -> None:
    assert authz.main(["--checks", "2000", "--limit", "50", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bindings"] == 5000
    assert set(result["microseconds"]) == set(authz.SORTS)


def test_it_fails_when_a_check_is_slower_than_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert authz.main(["--bindings", "60", "--checks", "10", "--limit", "0"]) == 1
    printed = capsys.readouterr()
    assert "over the limit" in printed.err and "average" in printed.out
