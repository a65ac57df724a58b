"""The benchmark of encryption at rest."""

import json

import pytest

from bench import encryption


def test_it_measures_each_provider(capsys: pytest.CaptureFixture[str]) -> None:
    assert encryption.main(["--secrets", "20", "--rounds", "1", "--limit", "100", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["per_second"]) == set(encryption.PROVIDERS) and result["secrets"] == 20
