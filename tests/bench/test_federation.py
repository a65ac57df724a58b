"""The benchmark of federations, small."""

import json

import pytest

from bench import federation

pytestmark = pytest.mark.slow


def test_a_change_gets_into_every_member(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--clusters",
        "2",
        "--deployments",
        "3",
        "--hollow",
        "-1",
        "--processes",
        "1",
        "--idle",
        "0",
        "--json",
    ]
    assert federation.main(arguments) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert figures["seconds until a change of all templates is in all clusters"] > 0
    assert figures["MB of the control plane"] > 0
