from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.cmd.dashboard import main


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.0.1", "somewhere.example"])
def test_it_listens_on_loopback_only(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--address", address])
    assert stopped.value.code == 2
    assert "loopback only" in capsys.readouterr().err


def test_a_kubeconfig_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--kubeconfig", str(tmp_path / "none")])
    assert stopped.value.code == 1
    assert "the kubeconfig cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "flag",
    [
        "--port=65536", "--port=-1", "--host=", "--host=bad/host", "--host=https://localhost", "--host=a b", "--host=localhost:",
        "--host=localhost:port", "--host=::1", "--host=[::1", "--host=x\r\ny",
    ],
)  # fmt: skip
def test_ports_and_hosts_that_are_none(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([flag])
    assert stopped.value.code == 2
    assert f"pyb dashboard: error: {flag.partition('=')[0]} " in capsys.readouterr().err
