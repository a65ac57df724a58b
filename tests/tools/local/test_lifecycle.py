"""A local cluster as a user has it: up, used with the real kubectl, down, up again, deleted."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support import require_program
from tests.tools.local.user import User

NAME = f"trial-{os.getpid()}"


def test_a_cluster_from_up_to_delete(tmp_path: Path) -> None:
    require_program("kubectl")
    user = User(tmp_path)
    try:
        assert "is up at https://127.0.0.1:" in user.pyb("up", NAME, "--hollow", "2")
        user.until("hollow-1", "get", "nodes")
        user.until("kube-scheduler-hollow-0", "get", "pods", "-n", "kube-system")
        user.kubectl("delete", "pod", "-n", "kube-system", "kube-scheduler-hollow-0", "--wait=false")
        user.until("kube-scheduler-hollow-0", "get", "pods", "-n", "kube-system")
        assert user.kubectl("config", "current-context").strip() == NAME
        user.kubectl("create", "configmap", "kept")
        user.kubectl("create", "deployment", "web", "--image=example.com/web", "--replicas=5")
        assert "successfully rolled out" in user.kubectl(
            "rollout", "status", "deployment/web", "--timeout=60s"
        )
        user.pyb("up", NAME)
        assert NAME in user.pyb("list") and "ready" in user.pyb("status", NAME)
        assert "is stopped" in user.pyb("down", NAME)
        assert "stopped" in user.pyb("status", NAME, code=3)
        user.pyb("up", NAME)
        assert "kept" in user.kubectl("get", "configmaps")
        assert "control plane is serving" in user.pyb("logs", "--cluster", NAME)
    finally:
        user.pyb("delete", NAME)
    assert not list((tmp_path / "state" / "clusters").iterdir())
    assert NAME not in (tmp_path / "kubeconfig").read_text()
    assert "there is no cluster named" in user.pyb("status", NAME, code=1)
    assert "is no name for a cluster" in user.pyb("up", "No_Name", code=1)
