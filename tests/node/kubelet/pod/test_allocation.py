"""Changes of a running pod's resources."""

from __future__ import annotations

from typing import Any

from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime
from pybernetes.node.kubelet.pod.allocation import Allocation, resize_refusal
from tests.node.kubelet.pods import pod


def test_resize_waits_for_room_and_then_happens() -> None:
    def asking(cpu: str) -> dict[str, Any]:
        return pod({"resources": {"requests": {"cpu": cpu}}})

    assert resize_refusal(asking("3"), {"cpu": "2"}, [])[0] == "Infeasible"  # type: ignore[index]
    runtime = PodRuntime("u", (), (ContainerRun("r", "c", ContainerState.RUNNING),))
    allocation = Allocation(asking("1"))
    assert not allocation.consider(asking("2"), runtime, {"cpu": "2"}, [asking("500m")])
    assert allocation.pending is not None and allocation.pending[0] == "Deferred"
    assert allocation.consider(asking("2"), runtime, {"cpu": "2"}, [])
    assert allocation.pending is None and allocation.allocated["c"] == {"requests": {"cpu": "2"}}
