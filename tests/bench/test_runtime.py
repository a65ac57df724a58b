"""The benchmark of the runtime, and the promise that it holds."""

import json

import pytest

from bench import runtime


def test_a_dispatch_is_fast(capsys: pytest.CaptureFixture[str]) -> None:
    assert runtime.main(["--pods", "200", "--keys", "5000", "--limit", "30", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["get in-process, 1/s"] > figures["get over HTTPS, 1/s"]
    assert figures["idle with these informers, % of a core"] < 10


def test_it_fails_when_a_dispatch_is_slower_than_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert runtime.main(["--pods", "10", "--keys", "10", "--limit", "0"]) == 1
    printed = capsys.readouterr()
    assert "over the limit" in printed.err and "dispatch of a reconcile" in printed.out
