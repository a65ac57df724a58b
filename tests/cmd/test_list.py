from __future__ import annotations

import json
from pathlib import Path

import pytest

from pybernetes.cmd import list as list_command
from pybernetes.cmd import status
from pybernetes.tools.local import settings
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings


def test_a_cluster_of_a_newer_version_does_not_hide_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYBERNETES_HOME", str(tmp_path))
    for name, hollow in (("alpha", 1), ("beta", 2), ("gamma", 3)):
        cluster = Cluster(name)
        cluster.create()
        settings.save(cluster, Settings(hollow=hollow, port=6443))
    assert list_command.main([]) == 0
    assert [line.split()[:4] for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["alpha", "stopped", "0", "1"],
        ["beta", "stopped", "0", "2"],
        ["gamma", "stopped", "0", "3"],
    ]
    newer = Cluster("beta").settings
    newer.write_text(json.dumps({**json.loads(newer.read_text()), "teleporter": True}))
    assert list_command.main([]) == 1
    shown = capsys.readouterr()
    assert [line.split()[0] for line in shown.out.splitlines()] == ["NAME", "alpha", "gamma"]
    complaint = (
        f"{newer}: this version does not know the setting 'teleporter': a newer one made the cluster\n"
    )
    assert shown.err == f"pyb list: beta: {complaint}"
    assert status.main(["beta"]) == 1
    assert capsys.readouterr().err == f"pyb status: {complaint}"
