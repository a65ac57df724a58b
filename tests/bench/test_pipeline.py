"""The benchmark of a request's way through the API server."""

from __future__ import annotations

import json

import pytest

from bench import pipeline


def test_every_sort_of_request_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert pipeline.main(["--reads", "50", "--writes", "3", "--limit", "10000", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == ["get", "create", "patch", "bind", "note a create"] and all(figures.values())


def test_a_slow_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert pipeline.main(["--reads", "5", "--writes", "1", "--limit", "0"]) == 1
    assert "over the limit" in capsys.readouterr().err
