"""A local cluster as a user has it: up, used with the real kubectl, down, up again, deleted."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.support import require_program
from tests.tools.local.user import User

NAME = f"trial-{os.getpid()}"


def _make_it_roots(folder: Path) -> None:
    """Make the folder one of an earlier version, whose control plane was root's."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, os.geteuid(), os.getegid())
    folder.chmod(0o700)
    saved = json.loads((folder / "cluster.json").read_text())
    del saved["user"]
    (folder / "cluster.json").write_text(json.dumps(saved))


def _check_rights(folder: Path) -> None:
    """Check that the control plane is nobody's process that could do harm."""
    pid = json.loads((folder / "programs.json").read_text())["control-plane"]["pid"]
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    assert status["NoNewPrivs"] == ["1"]
    if os.geteuid() == 0:
        assert "0" not in status["Uid"] + status["Gid"] and status.get("Groups") == []
        assert int(status["CapEff"][0], 16) in (0, 1 << 2)  # the second where Python lies in root's home


def test_a_cluster_from_up_to_delete(tmp_path: Path) -> None:
    require_program("kubectl")
    user = User(tmp_path)
    try:
        assert "is up at https://127." in user.pyb("up", NAME, "--hollow", "2")
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
        _make_it_roots(tmp_path / "state" / "clusters" / NAME)
        user.pyb("up", NAME)
        _check_rights(tmp_path / "state" / "clusters" / NAME)
        assert "kept" in user.kubectl("get", "configmaps")
        assert "control plane is serving" in user.pyb("logs", "--cluster", NAME)
    finally:
        user.pyb("delete", NAME)
    assert not list((tmp_path / "state" / "clusters").iterdir())
    assert NAME not in (tmp_path / "kubeconfig").read_text()
    assert "there is no cluster named" in user.pyb("status", NAME, code=1)
    assert "is no name for a cluster" in user.pyb("up", "No_Name", code=1)
