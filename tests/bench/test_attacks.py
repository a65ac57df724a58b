"""The benchmark of attacks."""

from __future__ import annotations

import json

import pytest

from bench import attacks


def test_an_attack_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    attacks.main(["--only", "many headers", "--seconds", "0.5", "--pods", "2", "--json"])
    figures = json.loads(capsys.readouterr().out)["results"]["many headers"]
    assert figures["rounds"] and figures["gets"] and not figures["failed"]
    assert (
        figures["server_seconds"] > 0 and figures["longest_ms"] >= figures["p99_ms"] >= figures["p50_ms"] > 0
    )


def test_who_waits_too_long_is_told() -> None:
    quick = {"p99_ms": 49.0, "longest_ms": 149.0, "failed": 0}
    assert not attacks._too_late(quick)
    assert all(
        attacks._too_late({**quick, **slow})
        for slow in ({"p99_ms": 51.0}, {"longest_ms": 151.0}, {"failed": 1})
    )


def test_attacks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert attacks.main(["--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert names[0] == "nothing" and "lists that nobody reads" in names
