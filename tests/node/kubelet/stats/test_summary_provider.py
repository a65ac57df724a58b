"""What a node and its pods use."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.stats.measured_pod import MeasuredPod
from pybernetes.node.kubelet.stats.summary_provider import SummaryProvider
from pybernetes.node.stats.cgroup import Usage
from tests.node.kubelet.pods import pod


def measured(uid: str) -> MeasuredPod:
    body = pod()
    body["metadata"] = {**body["metadata"], "uid": uid}
    return MeasuredPod(body, PodRuntime(uid, (), ()), {"startTime": "2026-01-01T00:00:00Z"})


async def test_nothing_is_kept_of_pods_that_are_gone(tmp_path: Path) -> None:
    """Whoever reads /metrics/resource over and over had the last readings of every group kept for ever."""
    clock, pods = ManualClock(), list[MeasuredPod]()
    groups = SimpleNamespace(
        mount=tmp_path,
        all_pods="pods",
        parent=lambda body: f"pods/{body['metadata']['uid']}",
        folder=lambda group: group,
    )
    context: Any = SimpleNamespace(
        clock=clock, cgroups=groups, node=lambda: {"metadata": {"name": "node"}, "status": {}}
    )
    provider = SummaryProvider(context, tmp_path, lambda: pods)
    provider.groups = SimpleNamespace(read=lambda group: Usage(cpu=1), unified=False)  # type: ignore[assignment]
    for number in range(300):
        pods[:] = [measured("lasting"), measured(f"passing-{number}")]
        await provider.summary(brief=True)
        await clock.advance(2.0)
    assert len(provider._readings) < 100
    assert {"/", "/pods", "/pods/lasting", "/pods/passing-299"} <= provider._readings.keys()
