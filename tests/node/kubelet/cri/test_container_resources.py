"""The resources of containers."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.cri.container_resources import container_resources
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({}, (2, 0, 0, 1000)),
        ({"requests": {"cpu": "500m", "memory": "1Gi"}}, (512, 0, 0, 900)),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}, (1024, 100000, 1 << 30, -997)),
        ({"limits": {"cpu": "1m"}}, (2, 1000, 0, 999)),
    ],
)  # fmt: skip
def test_container_resources(container: dict[str, Any], expected: tuple[int, ...]) -> None:
    definition = pod({"resources": container})
    resources = container_resources(definition, definition["spec"]["containers"][0], 10 << 30)
    assert (
        resources.cpu_shares,
        resources.cpu_quota,
        resources.memory_limit_in_bytes,
        resources.oom_score_adj,
    ) == expected


def test_the_period_of_cpu_limits() -> None:
    definition = pod({"resources": {"limits": {"cpu": "1500m"}}})
    resources = container_resources(definition, definition["spec"]["containers"][0], 0, cfs_period=10_000)
    assert (resources.cpu_period, resources.cpu_quota) == (10_000, 15_000)
