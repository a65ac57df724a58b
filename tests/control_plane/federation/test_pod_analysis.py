from __future__ import annotations

from typing import Any

from pybernetes.control_plane.federation.pod_analysis import analyse
from pybernetes.lib import rfc3339


def pod(phase: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {"status": {"phase": phase, "conditions": list(conditions)}}


def waiting(since: float, reason: str = "Unschedulable") -> dict[str, Any]:
    moment = rfc3339.seconds(since)
    return pod(
        "Pending", {"type": "PodScheduled", "status": "False", "reason": reason, "lastTransitionTime": moment}
    )


READY = pod("Running", {"type": "Ready", "status": "True"})
UNREADY = pod("Running", {"type": "Ready", "status": "False"})


def test_pods_that_run_and_pods_without_room() -> None:
    pods = [
        READY,
        READY,
        UNREADY,
        pod("Pending"),
        waiting(1000),
        waiting(1050),
        waiting(1090),
        waiting(1000, "SchedulingGated"),
        {},
    ]
    assert analyse(pods, 1100, 60) == (2, 1, 10)
    assert analyse(pods, 1200, 60) == (2, 3, None)
    assert analyse([], 0, 60) == (0, 0, None)
