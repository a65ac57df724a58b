"""The benchmark of network policies runs."""

import json
import os
import shutil

import pytest

from bench import policy


@pytest.mark.skipif(
    (os.geteuid() != 0 or shutil.which("nft") is None) and not os.environ.get("CI"),
    reason="needs root and nft",
)
def test_it_measures_changes(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--policies=60", "--pods=200", "--changes=3", "--rounds=0"]
    assert policy.main([*few, "--change-limit=60", "--used-limit=60", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["another pod's labels: processor"] > 0 and result["an own pod's labels: seconds"] > 0
    assert policy.main([*few, "--change-limit=0"]) == 1
    assert "over the limit: another pod's labels: seconds" in capsys.readouterr().err
