"""Which pods wait for room."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster, Schedulers
from tests.control_plane.autoscaler.fakes import pod


@pytest.mark.parametrize(
    ("schedulers", "expected"),
    [
        (Schedulers(), {"tried", "other"}),
        (Schedulers(allowed=frozenset({"mine"})), {"other"}),
        (Schedulers(bypassed=frozenset({"default-scheduler"})), {"tried", "other", "untried"}),
        (Schedulers(frozenset({"mine"}), frozenset({"mine"})), {"other", "other-untried"}),
    ],
)
def test_whose_pods_matter(schedulers: Schedulers, expected: set[str]) -> None:
    cluster = Cluster(schedulers=schedulers)
    pods = [
        pod("tried"), pod("untried"), pod("other", schedulerName="mine"), pod("other-untried", schedulerName="mine"),
        pod("agent", owner="apps/v1 DaemonSet d"), pod("gated"), pod("gone", deleted="2026-01-01T00:00:00Z"), pod("bound", "n"),
    ]  # fmt: skip
    for name, status in (("untried", {}), ("other-untried", {}), ("gated", {"reason": "SchedulingGated"})):
        made = next(entry for entry in pods if entry["metadata"]["name"] == name)
        condition = {"type": "PodScheduled", "status": "False", **status}
        made["status"] = {"phase": "Pending", "conditions": [condition] if status else []}
    for made in pods:
        cluster.set_pod(f"default/{made['metadata']['name']}", cluster.read_pod(made))
    assert {key.partition("/")[2] for key in cluster.pending} == expected
