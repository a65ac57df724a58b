"""The benchmark as a whole, small, against a server of our own."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]

SMALL = """
import sys
from bench import api
from bench.harness.phases import Size

api.QUICK = Size(serial=5, pods=20, patches=10, seconds=0.1, watches=((3, 5),))
sys.exit(api.main(sys.argv[1:]))
"""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def write_kubeconfig(folder: Path, port: int) -> Path:
    (folder / "tokens.csv").write_text("secret,admin,admin,system:masters\n")
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": "certificates/ca.crt"}
    path = folder / "kubeconfig"
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
        "clusters": [{"name": "one", "cluster": cluster}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    }
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.mark.e2e
def test_it_measures_everything_and_cleans_up(tmp_path: Path) -> None:
    port = free_port()
    kubeconfig = write_kubeconfig(tmp_path, port)
    server = (
        f"{sys.executable} -P {ROOT}/pybernetes/cmd/main.py kube-apiserver --bind-address=127.0.0.1"
        f" --secure-port={port} --cert-dir={tmp_path}/certificates --token-auth-file={tmp_path}/tokens.csv"
        f" --data-dir={tmp_path}/data"
    )
    arguments = ["--kubeconfig", str(kubeconfig), "--quick", "--json", "--no-wrk", "--start-command", server]
    done = subprocess.run(
        [sys.executable, "-c", SMALL, *arguments], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "could not be removed" not in done.stderr
    result = json.loads(done.stdout)
    assert list(result["results"]) == [
        *("create-1", "create-16", "get-1", "get-16", "list-500-1", "list-500-4"),
        *(
            "list-20-2",
            "list-20-cached-2",
            "list-20-protobuf-2",
            "patch-1",
            "patch-16",
            "watch-3x5",
            "delete-1",
            "delete-16",
        ),
    ]
    for figures in result["results"].values():
        assert figures["rate"] > 0
        assert figures["failures"] == 0
    assert result["results"]["create-16"]["count"] == 15
    assert result["results"]["watch-3x5"]["count"] == 15
    assert 1300 <= result["pod_bytes"] <= 1900
    assert set(result["ready_seconds"]) == {"as found", "with the pods"}
    assert all(megabytes > 10 for megabytes in result["memory_megabytes"].values())


def test_a_server_elsewhere_is_refused(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, 1)
    path.write_text(
        path.read_text().replace("127.0.0.1", "192.0.2.1").replace("certificate-authority", "unused")
    )
    command = [
        sys.executable,
        "-P",
        str(ROOT / "pybernetes/cmd/main.py"),
        "bench",
        "api",
        "--kubeconfig",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "192.0.2.1 is not on loopback" in done.stderr
