"""The documents' case with real nodes: one is lost and comes back, and only the descheduler evens pods out."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import require_program, require_root, until
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
NAME = f"lostnode-{os.getpid()}"
FIRST, SECOND = NAME, f"{NAME}-2"
# A silent node is noticed after ten seconds instead of fifty; its kubelet says that it lives every two.
KUBELET = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "nodeLeaseDurationSeconds": 8,
}
POLICY = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "spread",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {"nodeFit": True, "minReplicas": 2}},
                {"name": "RemoveDuplicates"},
            ],
            "plugins": {"balance": {"enabled": ["RemoveDuplicates"]}},
        }
    ],
}


def image(folder: Path) -> Path:
    """Return the root of an image with a program that waits."""
    (folder / "bin").mkdir(parents=True)
    shutil.copy(require_program("busybox"), folder / "bin" / "busybox")
    return folder


def workload(replicas: int) -> list[dict[str, Any]]:
    """Return a Deployment whose pods leave a lost node at once, and a budget that lets two of them be away."""
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
        for key in ("not-ready", "unreachable")
    ]  # fmt: skip
    container = {"name": "main", "image": "waits:1", "imagePullPolicy": "Never"}
    spec = {"terminationGracePeriodSeconds": 0, "tolerations": tolerations, "containers": [container]}
    labels = {"app": "web"}
    selector = {"matchLabels": labels}
    # By default pods also spread over zones, of which there is one, and what the control plane asks for outweighs the rest.
    spread = {"topologyKey": "kubernetes.io/hostname", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
              "labelSelector": selector}  # fmt: skip
    spec["topologySpreadConstraints"] = [spread]
    template = {"metadata": {"labels": labels}, "spec": spec}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {"replicas": replicas, "selector": selector, "template": template},
        },
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web"},
            "spec": {"maxUnavailable": 2, "selector": selector},
        },
    ]


class Operator(User):
    """Somebody who runs the workload."""

    def ready(self) -> dict[str, set[str]]:
        """Return the pods that are ready and stay, by their node."""
        result: dict[str, set[str]] = {FIRST: set(), SECOND: set()}
        for pod in json.loads(self.kubectl("get", "pods", "-l", "app=web", "-o", "json"))["items"]:
            if "deletionTimestamp" not in pod["metadata"] and any(
                condition["type"] == "Ready" and condition["status"] == "True"
                for condition in pod["status"].get("conditions", ())
            ):
                result[pod["spec"]["nodeName"]].add(pod["metadata"]["name"])
        return result

    def spread(self) -> tuple[int, int]:
        """Return how many pods are ready on each node."""
        ready = self.ready()
        return len(ready[FIRST]), len(ready[SECOND])


def test_a_real_node_is_lost_and_comes_back(tmp_path: Path) -> None:
    require_root()
    for program in ("kubectl", "containerd", "busybox"):
        require_program(program)
    user = Operator(tmp_path)
    kubelet, settings, policy, objects = (
        tmp_path / name for name in ("kubelet.yaml", "cluster.yaml", "policy.yaml", "web.yaml")
    )
    kubelet.write_text(yaml.safe_dump(KUBELET))
    policy.write_text(yaml.safe_dump(POLICY))
    objects.write_text(yaml.safe_dump_all(workload(4)))
    settings.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "local.pybernetes.dev/v1alpha1",
                "kind": "Cluster",
                "nodes": 2,
                "kubeletArguments": [f"--config={kubelet}"],
                "controllerManagerArguments": ["--node-monitor-grace-period=10s"],
            }
        )
    )
    descheduler = ("descheduler", "--kubeconfig", user.environment["KUBECONFIG"], "--secure-port=0",
                   "--policy-config-file", str(policy))  # fmt: skip
    try:
        user.pyb("up", NAME, "--config", str(settings), "--wait")
        user.pyb(
            "image", "build", str(image(tmp_path / "image")), "--tag", "waits:1",
            "--entrypoint", "/bin/busybox sleep 3600",
        )  # fmt: skip
        user.kubectl("apply", "-f", str(objects))
        until(lambda: user.spread() == (2, 2))
        stayed = user.ready()[FIRST]

        user.pyb("node", "stop", SECOND)
        until(lambda: user.spread() == (4, 0))
        user.pyb("node", "start", SECOND)
        user.kubectl("wait", "--for=condition=Ready", f"node/{SECOND}", "--timeout=60s")
        until(lambda: user.kubectl("get", "node", SECOND, "-o", "jsonpath={.spec.taints}") == "")

        # It is ready, and empty: pods do not move by themselves.
        ready = user.ready()
        assert len(ready[FIRST]) == 4 and not ready[SECOND] and stayed < ready[FIRST]
        assert "2 pods would be evicted" in user.pyb(*descheduler, "--dry-run")
        assert user.spread() == (4, 0)
        assert "2 pods evicted" in user.pyb(*descheduler)
        until(lambda: user.spread() == (2, 2))
        assert "0 pods evicted" in user.pyb(*descheduler)
    finally:
        user.pyb("delete", NAME)
