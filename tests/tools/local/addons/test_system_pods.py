"""The parts of a cluster as pods of kube-system: shown while they run, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local.addons import system_pods
from pybernetes.tools.local.addons.system_pods import Part

STARTED = "2026-01-01T00:00:00Z"
NODE: dict[str, Any] = {
    "metadata": {"name": "n", "uid": "u"},
    "status": {
        "addresses": [{"type": "InternalIP", "address": "172.30.0.2"}, {"type": "Hostname", "address": "n"}],
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


def test_the_pod_is_nobodys_to_run() -> None:
    shown = system_pods.pod("kube-scheduler", NODE, Part(STARTED, ("--secure-port=10259",), "172.30.0.1"))
    assert shown["spec"]["containers"][0]["command"] == ["kube-scheduler", "--secure-port=10259"]
    assert shown["metadata"]["name"] == "kube-scheduler-n" and shown["spec"]["nodeName"] == "n"
    assert system_pods.MIRROR in shown["metadata"]["annotations"]
    assert shown["metadata"]["ownerReferences"][0]["uid"] == "u"


@pytest.mark.parametrize("ready", ["True", "False", "Unknown"])
def test_it_is_ready_if_its_node_is(ready: str) -> None:
    node = {**NODE, "status": {**NODE["status"], "conditions": [{"type": "Ready", "status": ready}]}}
    status = system_pods.status("kube-proxy", node, Part(STARTED))
    assert status["containerStatuses"][0]["ready"] is (ready == "True")
    assert {condition["type"]: condition["status"] for condition in status["conditions"]}["Ready"] == (
        "True" if ready == "True" else "False"
    )
    assert status["podIP"] == "172.30.0.2" and status["phase"] == "Running"


def test_a_part_of_the_control_plane_is_where_it_answers() -> None:
    status = system_pods.status("kube-scheduler", NODE, Part(STARTED, address="172.30.0.1"))
    assert (status["podIP"], status["hostIP"]) == ("172.30.0.1", "172.30.0.2")


def test_restarts_are_counted() -> None:
    status = system_pods.status("kube-proxy", NODE, Part(STARTED, restarts=2))
    (container,) = status["containerStatuses"]
    assert container["restartCount"] == 2 and container["state"] == {"running": {"startedAt": STARTED}}
