from typing import Any

import pytest

from pybernetes.api.core.pod import pod_level_resources
from pybernetes.api.core.pod.restart_policy import all_could_restart, should_restart


def container(policy: str = "", **requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}, **({"restartPolicy": policy} if policy else {})}


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        ({"containers": [container(cpu="100m"), container(cpu="1")]}, 1.1),
        ({"containers": [container(cpu="1")], "initContainers": [container(cpu="3")]}, 3),
        ({"containers": [container(cpu="1")], "initContainers": [container("Always", cpu="3")]}, 4),
        ({"containers": [container(cpu="1")],
          "initContainers": [container("Always", cpu="3"), container(cpu="2")]}, 5),
        ({"containers": [container(cpu="1")],
          "initContainers": [container(cpu="2"), container("Always", cpu="3")]}, 4),
    ],
)  # fmt: skip
def test_aggregate(spec: dict[str, Any], cpu: float) -> None:
    assert float(pod_level_resources.aggregate(spec, "requests")["cpu"]) == cpu


def test_default_pod_level() -> None:
    limits = {"cpu": "1", "memory": "1Gi"}
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": limits}}],
        "resources": {"requests": {"cpu": "2"}},
    }
    pod_level_resources.default_pod_level(spec)
    assert spec["resources"] == {
        "requests": {"cpu": "2", "memory": "1Gi"},
        "limits": {"cpu": "2", "memory": "1Gi"},
    }


@pytest.mark.parametrize(
    ("own", "pod", "code", "expected"),
    [
        ({}, "Always", 0, True),
        ({}, "OnFailure", 0, False),
        ({}, "OnFailure", 1, True),
        ({}, "Never", 1, False),
        ({"restartPolicy": "Always"}, "Never", 0, True),
        ({"restartPolicy": "Never"}, "Always", 1, False),
        ({"restartPolicy": "Never", "restartPolicyRules": [
            {"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]}, "Never", 42, True),
        ({"restartPolicy": "Never", "restartPolicyRules": [
            {"action": "Restart", "exitCodes": {"operator": "NotIn", "values": [42]}}]}, "Never", 42, False),
    ],
)  # fmt: skip
def test_should_restart(own: dict[str, Any], pod: str, code: int, expected: bool) -> None:
    assert should_restart(own, pod, code) is expected


def test_all_could_restart() -> None:
    rule = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}
    assert all_could_restart({"initContainers": [rule]})
    assert not all_could_restart({"containers": [{}]})
