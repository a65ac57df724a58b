"""Groups of hollow nodes in a running cluster: made by a file and by commands, and what remains after a restart."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support import require_program, until
from tests.tools.local.user import User

pytestmark = pytest.mark.slow
NAME = f"testgroups-{os.getpid()}"
FILE = """
apiVersion: local.pybernetes.dev/v1alpha1
kind: Cluster
nodeGroups:
  - {name: system, minimum: 1, hollow: true, role: system, taints: ["a=system:NoSchedule"], resources: {cpu: 4}}
"""


def test_groups_of_a_cluster(tmp_path: Path) -> None:
    require_program("kubectl")
    user = User(tmp_path)
    (tmp_path / "cluster.yaml").write_text(FILE)

    def names() -> list[str]:
        nodes = json.loads(user.kubectl("get", "nodes", "-o", "json"))["items"]
        return sorted(node["metadata"]["name"] for node in nodes)

    try:
        user.pyb("up", NAME, "--config", str(tmp_path / "cluster.yaml"), "--wait")
        node = json.loads(user.kubectl("get", "node", "hollow-system-0", "-o", "json"))
        assert node["metadata"]["labels"]["node-role.kubernetes.io/system"] == ""
        assert {"key": "a", "value": "system", "effect": "NoSchedule"} in node["spec"]["taints"]
        assert node["status"]["allocatable"]["cpu"] == "4"
        user.pyb(
            "node-group", "create", "service", "--hollow", "--maximum", "3", "--size", "2", "--labels", "x=y"
        )
        user.until("hollow-service-1   Ready", "get", "nodes", "-l", "x=y")
        user.kubectl("create", "deployment", "web", "--image=web", "--replicas=3")
        user.until("3/3", "get", "deployment", "web")
        assert "from 0 to 3 nodes; 4 is out of range" in user.pyb(
            "node-group", "scale", "service", "--size", "4", code=1
        )
        user.pyb("node-group", "scale", "service", "--size", "1")
        assert names() == ["hollow-service-0", "hollow-system-0"]
        user.pyb("down", NAME)
        user.pyb("up", NAME, "--wait")
        assert names() == ["hollow-service-0", "hollow-system-0"]
        assert "service   1       0         3         hollow" in user.pyb("node-group", "list")
        user.pyb("node-group", "delete", "service")
        until(lambda: names() == ["hollow-system-0"])
        assert "there is no node group 'service'" in user.pyb("node-group", "delete", "service", code=1)
    finally:
        user.pyb("delete", NAME)
