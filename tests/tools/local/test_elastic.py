"""One story: load makes pods, pods make a node, all of it goes with the load, and no request is lost meanwhile but what
a pod that ended reset itself."""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib import rfc3339
from tests.support import require_program, require_root, until
from tests.tools.local.nodes.test_nodes import web
from tests.tools.local.user import User

pytestmark = [pytest.mark.slow, pytest.mark.e2e]
NAME = f"elastic{os.getpid() % 100000}"
CLUSTER = """
apiVersion: local.pybernetes.dev/v1alpha1
kind: Cluster
autoscaler: true
autoscalerArguments:
  - --scale-down-unneeded-time=1s
  - --scale-down-delay-after-add=1s
  - --scale-down-delay-after-failure=1s  # on a loaded machine
  - --unremovable-node-recheck-timeout=1s
  - --scan-interval=1s
controllerManagerArguments: [--horizontal-pod-autoscaler-sync-period=1s]
metricsResolution: 1
nodeGroups: [{name: service, minimum: 1, maximum: 2, resources: {cpu: 1, memory: 1Gi}}]
"""
GOOD, RESET = ("200 done", "200 hello"), "reset by the pod"
WORK = "#!/bin/busybox sh\ni=0\nwhile [ $i -lt 20000 ]; do i=$((i+1)); done\nprintf 'Content-type: text/plain\\r\\n\\r\\ndone\\n'\n"


def objects() -> list[dict[str, Any]]:
    """Return web servers of which a node has room for two, as many as their load asks for."""
    labels = {"app": "web"}
    container = {
        "name": "web",
        "image": "web:1",
        "imagePullPolicy": "Never",
        "ports": [{"containerPort": 80}],
        "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1},
        # Nobody is sent there any more, and what has begun is answered: on a loaded machine, too.
        "lifecycle": {"preStop": {"sleep": {"seconds": 20}}},
        "resources": {"requests": {"cpu": "400m"}},
    }
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 30},
    }
    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 10}}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
         "spec": {"selector": {"matchLabels": labels}, "template": template}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
         "spec": {"type": "LoadBalancer", "selector": labels, "ports": [{"port": 80}]}},
        {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
         "spec": {
             "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
             "minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": cpu}],
             "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
         }},
    ]  # fmt: skip


class Visitor:
    """Asks over and over: with work while there is load, and now and then without any."""

    def __init__(self, address: str) -> None:
        self.address, self.load, self.outcomes = address, threading.Event(), Counter[str]()
        self.lost: list[str] = []  # with the moment, to be held against the cluster's events
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Visitor:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._leaving.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._leaving.is_set():
            began = time.time()
            outcome = self._visit("/cgi-bin/work" if self.load.is_set() else "/")
            self.outcomes[outcome] += 1
            if outcome not in GOOD:
                self.lost.append(f"{rfc3339.micro(began)} for {time.time() - began:.3f} s: {outcome}")
            self._leaving.wait(0.01 if self.load.is_set() else 0.1)

    def _visit(self, path: str) -> str:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.connect()
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                return f"{response.status} {response.read().decode().strip()}"
            except (ConnectionResetError, BrokenPipeError, http.client.RemoteDisconnected):
                return RESET  # somebody was there: a pod
        except (OSError, http.client.HTTPException) as error:
            return repr(error)
        finally:
            connection.close()


def test_load_comes_and_goes_and_nobody_is_turned_away(tmp_path: Path) -> None:
    require_root()
    for program in ("kubectl", "containerd", "busybox"):
        require_program(program)
    user = User(tmp_path)
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    work = web(tmp_path / "web") / "www" / "cgi-bin" / "work"
    work.parent.mkdir()
    work.write_text(WORK)
    work.chmod(0o755)
    (tmp_path / "objects.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": objects()})
    )

    def names(kind: str) -> list[str]:
        return user.kubectl("get", kind, "-o", "jsonpath={.items[*].metadata.name}").split()

    def ready() -> int:
        return int(user.kubectl("get", "deployment", "web", "-o", "jsonpath={.status.readyReplicas}") or 0)

    def story() -> str:
        asked = ("get", "nodes,pods,hpa,events", "-A", "-o", "wide")  # kubectl sorts one kind alone
        return "\n".join((user.kubectl(*asked), str(visitor.outcomes), *visitor.lost))

    try:
        user.pyb("up", NAME, "--config", str(tmp_path / "cluster.yaml"), "--wait")
        entrypoint = "/bin/busybox httpd -f -p 80 -h /www"
        user.pyb("image", "build", str(tmp_path / "web"), "--tag", "web:1", "--entrypoint", entrypoint)
        user.kubectl("apply", "-f", str(tmp_path / "objects.json"))
        until(lambda: ready() == 1)
        shown = "jsonpath={.status.loadBalancer.ingress[0].ip}"
        address = until(lambda: user.kubectl("get", "service", "web", "-o", shown))
        until(lambda: Visitor(address)._visit("/").startswith("200"))
        with Visitor(address) as visitor:
            visitor.load.set()
            until(lambda: ready() == 3, 180, story=story)  # the third on a node that was made for it
            places = user.kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}").split()
            assert set(places) == set(names("nodes")) and len(set(places)) == 2
            visitor.load.clear()
            until(lambda: len(names("nodes")) == 1 and ready() == 1, 180, story=story)
            before = visitor.outcomes.total()
            until(lambda: visitor.outcomes.total() > before + 5)
        assert set(visitor.outcomes) - {RESET} == set(GOOD), story()
        assert visitor.outcomes[RESET] <= 2, story()  # as many pods have ended
        reasons = user.kubectl("get", "events", "-A", "-o", "jsonpath={.items[*].reason}").split()
        assert {"SuccessfulRescale", "TriggeredScaleUp", "ScaleDown"} <= set(reasons)
        assert "service   1" in user.pyb("node-group", "list")
    finally:
        user.pyb("delete", NAME)
