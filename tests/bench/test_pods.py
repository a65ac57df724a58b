"""The benchmark of real pods, with a few of them."""

import json
from pathlib import Path

import pytest

from bench import pods
from tests.support import require_program, require_root


@pytest.mark.slow
@pytest.mark.e2e
def test_a_few_pods(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    require_root()
    for program in ("containerd", "busybox", "ip"):
        require_program(program)
    monkeypatch.setenv("PYBERNETES_HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    count = ["--serial", "1", "--at-once", "2", "--idle", "1", "--idle-seconds", "1"]
    assert pods.main([*count, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert results["2 at once: create to Ready, the last, ms"] > 0
    assert results["kubelet with 1 idle pods, MB"] > 10
    assert not list((tmp_path / "clusters").iterdir())
