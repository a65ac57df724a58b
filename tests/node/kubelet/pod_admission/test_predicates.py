"""Whether a pod can run on a node."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.pod_admission import predicates
from tests.node.kubelet.pods import pod


def _required(operator: str, value: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": "a", "operator": operator, "values": [value]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({}, None),
        ({"nodeSelector": {"a": "c"}}, "NodeAffinity"),
        ({"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}, "SysctlForbidden"),
        ({"securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}}, None),
        ({"affinity": _required("In", "b")}, None),
        ({"affinity": _required("NotIn", "b")}, "NodeAffinity"),
        ({"os": {"name": "linux"}}, None),
        ({"os": {"name": "windows"}}, "PodOSNotSupported"),
        ({"tolerations": []}, "TaintToleration"),
        ({"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}, "AppArmor"),
        ({"securityContext": {"supplementalGroupsPolicy": "Merge"}}, None),
        (
            {"securityContext": {"supplementalGroupsPolicy": "Strict"}},
            "SupplementalGroupsPolicyNotSupported",
        ),
    ],
)
def test_admission(spec: dict[str, Any], reason: str | None) -> None:
    """CVE-2022-0811 among others: a sysctl that the node does not allow."""
    node = {
        "metadata": {"name": "n", "labels": {"a": "b"}},
        "spec": {"taints": [{"key": "gone", "effect": "NoExecute"}, {"key": "full", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "1", "pods": "2"}},
    }
    spec = {"tolerations": [{"key": "gone", "operator": "Exists"}], **spec}
    refusal = predicates.refusal(pod(**spec), node, [], ["net.core.*"])
    assert (refusal and refusal[0]) == reason
    assert refusal is None or refusal[1].startswith("Pod was rejected: ")


def test_a_strict_policy_of_groups_runs_where_the_runtime_can() -> None:
    strict = pod(securityContext={"supplementalGroupsPolicy": "Strict"})
    for supported in (True, False):
        node = {"status": {"features": {"supplementalGroupsPolicy": supported}}}
        assert (predicates.refusal(strict, node, []) is None) is supported


def test_admission_counts_others() -> None:
    node = {"status": {"allocatable": {"cpu": "1", "pods": "3"}}}
    large = pod({"resources": {"requests": {"cpu": "600m"}}, "ports": [{"containerPort": 1, "hostPort": 80}]})
    small = pod({"resources": {"requests": {"cpu": "600m"}}})
    assert predicates.refusal(large, node, [small])[0] == "OutOfcpu"  # type: ignore[index]
    assert predicates.refusal(large, node, [large])[0] == "NodePorts"  # type: ignore[index]
    assert predicates.refusal(pod(), node, [pod(), pod(), pod()])[0] == "OutOfpods"  # type: ignore[index]
