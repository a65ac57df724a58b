"""ClusterInputs of a real cluster: hollow nodes, but a real API server, read with the command that users have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from pybernetes.tools.audit_security.collect import shown_flags
from tests.servers import running


def test_flags_are_read_from_pods() -> None:
    def pod(namespace: str, *words: str) -> dict[str, object]:
        meta = {"name": "x", "namespace": namespace, "labels": {"component": "etcd"}}
        return {"metadata": meta, "spec": {"containers": [{"command": ["etcd", *words]}]}}

    given = pod("kube-system", "--a=b=c", "--switch", "-x")
    assert shown_flags([given]) == {"etcd": {"a": "b=c", "switch": "true"}}
    assert shown_flags([pod("kube-system"), pod("mine", "--a=b")]) == {}


def test_a_server_is_judged(tmp_path: Path) -> None:
    with running(tmp_path, "--authorization-mode=Node,RBAC", "--storage-backend=memory") as server:
        command = [
            sys.executable,
            "-m",
            "pybernetes.cmd.main",
            "audit-security",
            f"--kubeconfig={server.kubeconfig}",
        ]
        done = subprocess.run([*command, "-o", "json"], capture_output=True, text=True, timeout=120)
        states = {row["number"]: row["state"] for row in json.loads(done.stdout)["checks"]}
        assert states["1.2.2"] == "fail"  # the test's own tokens
        assert states["1.2.7"] == states["1.2.8"] == states["5.1.1"] == "pass"
        assert states["1.1.11"] == "manual"  # files elsewhere
        assert done.returncode == 1
        table = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
        assert "FAIL   1.2.2" in table
