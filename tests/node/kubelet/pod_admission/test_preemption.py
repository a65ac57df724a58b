"""Which pods make room for a critical one."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.pod_admission import preemption


def _asking(name: str, cpu: str = "", quality: str = "Burstable", priority: int = 0) -> dict[str, Any]:
    requests = {"cpu": cpu} if cpu else {}
    spec = {"containers": [{"name": "c", "resources": {"requests": requests}}], "priority": priority}
    return {"metadata": {"name": name, "uid": name}, "spec": spec, "status": {"qosClass": quality}}


@pytest.mark.parametrize(
    ("others", "cpu", "expected"),
    [
        ([_asking("a", "1")], "1", []),  # it fits
        ([_asking("a", "1"), _asking("b", "2")], "3", ["b"]),  # the one that gives everything
        ([_asking("a", "1"), _asking("b", "1")], "4", ["a", "b"]),
        ([_asking("a", "2", "Guaranteed"), _asking("b", "2")], "2", ["b"]),  # those that were promised least
        ([_asking("a", "4", priority=2_000_000_000)], "1", None),  # as important as itself
    ],
)
def test_who_makes_room(others: list[dict[str, Any]], cpu: str, expected: list[str] | None) -> None:
    pod = _asking("critical", cpu, priority=2_000_000_000)
    wanted = preemption.missing_amounts(pod, {"cpu": "4", "pods": "110"}, others)
    chosen = preemption.victims(pod, others, wanted)
    assert (
        sorted(victim["metadata"]["name"] for victim in chosen) if chosen is not None else None
    ) == expected
