"""The benchmark of admission, and the promise that it holds."""

import json

import pytest

from bench import admission


def test_the_default_plugins_are_fast(capsys: pytest.CaptureFixture[str]) -> None:
    # Twice the promise, because the machine that tests run on is shared.
    assert admission.main(["--pods", "400", "--limit", "80", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["microseconds"]) == set(admission.SORTS)


def test_it_fails_when_they_are_slower_than_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert admission.main(["--pods", "5", "--limit", "0"]) == 1
    printed = capsys.readouterr()
    assert "over the limit" in printed.err and "plain namespace" in printed.out
