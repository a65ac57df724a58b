"""Node groups of a local cluster that grow and shrink by themselves: hollow nodes, and real ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support import require_program, require_root, until
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
# A removal that failed on a loaded machine is tried again at once.
QUICK = (
    "[--scale-down-unneeded-time=1s, --scale-down-delay-after-add=1s, --scan-interval=1s, --node-delete-delay-after-taint=0s, "
    "--scale-down-delay-after-failure=1s, --unremovable-node-recheck-timeout=1s]"
)


def story(tmp_path: Path, name: str, first: str, group: str) -> None:
    """Scale a Deployment up and down: a node comes for it, and goes after it."""
    require_program("kubectl")
    user = User(tmp_path)
    (tmp_path / "cluster.yaml").write_text(
        f"apiVersion: local.pybernetes.dev/v1alpha1\nkind: Cluster\nautoscaler: true\nautoscalerArguments: {QUICK}\n"
        f"{first}\nnodeGroups: [{{name: service, maximum: 2, labels: {{room: wanted}}, {group}}}]\n"
    )

    def nodes() -> list[str]:
        listed = json.loads(user.kubectl("get", "nodes", "-l", "room=wanted", "-o", "json"))["items"]
        return [node["metadata"]["name"] for node in listed]

    def deployment(replicas: int) -> str:
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "600m"}}}
        spec = {
            "nodeSelector": {"room": "wanted"},
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
        }
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": spec}
        made = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
        }
        file = tmp_path / "web.json"
        file.write_text(json.dumps(made))
        return str(file)

    try:
        user.pyb("up", name, "--config", str(tmp_path / "cluster.yaml"), "--wait")
        assert nodes() == []
        user.kubectl("apply", "-f", deployment(2))
        until(lambda: len(nodes()) == 2)  # a node of one core has room for one of them
        user.until(
            "True", "get", "nodes", "-l", "room=wanted", "-o", "jsonpath={.items[*].status.conditions}"
        )
        until(lambda: user.kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}").split() != [])
        user.kubectl("apply", "-f", deployment(0))
        until(lambda: nodes() == [], 180)
        assert "service   0" in user.pyb("node-group", "list")
        status = user.kubectl(
            "get", "-n", "kube-system", "configmap", "cluster-autoscaler-status", "-o", "yaml"
        )
        assert "autoscalerStatus: Running" in status
        asked = ("kubectl", "auth", "can-i", "patch", "--as=system:cluster-autoscaler", "-n")
        user.run(*asked, "kube-system", "configmaps/cluster-autoscaler-status")
        user.run(*asked, "kube-system", "configmaps/extension-apiserver-authentication", code=1)
        user.run(*asked, "default", "configmaps/cluster-autoscaler-status", code=1)
    finally:
        user.pyb("delete", name)


def test_hollow_nodes_come_and_go(tmp_path: Path) -> None:
    story(tmp_path, f"testscale-{os.getpid()}", "hollow: 1", "hollow: true, resources: {cpu: 1}")


def test_real_nodes_come_and_go(tmp_path: Path) -> None:
    require_root()
    story(tmp_path, f"testscaler-{os.getpid()}", "nodes: 1", "resources: {cpu: 1, memory: 1Gi}")
