"""RemoveFailedPods: reasons, exit codes, age and owners."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.descheduler.worlds import gone, node, pod

NODES = [node("n1"), node("n2")]


def failed(reason: str = "", code: int = 1, where: str = "containerStatuses") -> dict[str, Any]:
    state = {"terminated": {"reason": reason, "exitCode": code}}
    return {"status": {"phase": "Failed", where: [{"state": state}]}}


@pytest.mark.parametrize(
    ("there", "arguments", "goes"),
    [
        (failed(), {}, True),
        ({}, {}, False),
        ({**failed(), "age": 3599}, {}, False),
        ({**failed(), "age": 3599}, {"minPodLifetimeSeconds": 3000}, True),
        (failed("NodeAffinity"), {"reasons": ["NodeAffinity"]}, True),
        (failed("Other"), {"reasons": ["NodeAffinity"]}, False),
        (
            {"status": {"phase": "Failed", "reason": "UnexpectedAdmissionError"}},
            {"reasons": ["UnexpectedAdmissionError"]},
            True,
        ),
        (failed("X", where="initContainerStatuses"), {"reasons": ["X"]}, False),
        (
            failed("X", where="initContainerStatuses"),
            {"reasons": ["X"], "includingInitContainers": True},
            True,
        ),
        (failed(code=7), {"exitCodes": [7]}, True),
        (failed(code=7), {"exitCodes": [8]}, False),
        (
            failed(code=7, where="initContainerStatuses"),
            {"exitCodes": [7], "includingInitContainers": True},
            True,
        ),
        (failed(), {"excludeOwnerKinds": ["ReplicaSet"]}, False),
        (failed(), {"excludeOwnerKinds": ["Job"]}, True),
        (failed(), {"namespaces": {"exclude": ["default"]}}, False),
        ({**failed(), "owners": ()}, {}, False),
    ],
)
def test_pods(there: Any, arguments: Any, goes: bool) -> None:
    assert gone(NODES, [pod("p", **there)], {"RemoveFailedPods": arguments}) == (["p"] if goes else [])


def test_bare_pods_go_when_allowed() -> None:
    there = [pod("failed", owners=(), **failed()), pod("running", owners=())]
    assert gone(NODES, there, {"RemoveFailedPods": {}}, {"evictFailedBarePods": True}) == ["failed"]
    disabled = {"podProtections": {"defaultDisabled": ["FailedBarePods"]}}
    assert gone(NODES, there, {"RemoveFailedPods": {}}, disabled) == ["failed"]


def test_limits() -> None:
    there = [pod(f"p{number}", **failed()) for number in range(4)]
    assert len(gone(NODES, there, {"RemoveFailedPods": {}}, maxNoOfPodsToEvictPerNode=1)) == 1
    assert len(gone(NODES, there, {"RemoveFailedPods": {}}, maxNoOfPodsToEvictTotal=2)) == 2
