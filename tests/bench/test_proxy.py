"""The benchmark of kube-proxy runs."""

import json
import os
import shutil

import pytest

from bench import proxy


@pytest.mark.skipif(
    (os.geteuid() != 0 or shutil.which("nft") is None) and not os.environ.get("CI"),
    reason="needs root and nft",
)
def test_it_measures_each_mode(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = ["--mode=iptables", "--mode=nftables", "--mode=userspace"]
    assert (
        proxy.main(["--services=20", "--endpoints=60", "--changes=2", "--change-limit=20", *wanted, "--json"])
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert set(result["modes"]) == {"iptables", "nftables", "userspace"} and result["services"] == 20
    assert (
        proxy.main(["--services=2", "--endpoints=2", "--changes=1", "--full-limit=0", "--mode=nftables"]) == 1
    )
    assert "over the limit: nftables: full sync" in capsys.readouterr().err
