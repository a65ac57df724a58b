"""The benchmark of kube-dns, with little to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench import dns


@pytest.mark.slow
def test_it_measures_everything(capsys: Any) -> None:
    dns.main(["--services", "20", "--seconds", "0.3", "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["services"] == 20 and figures["failed"] == 0
    assert figures["questions/s"] > 100 and figures["memory MB"] > 1 and figures["change seen ms"] > 0
    assert set(dns.LIMITS) <= set(figures)
