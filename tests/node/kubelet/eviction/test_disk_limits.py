"""Pods that exceed their own limits of local storage."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.eviction import disk_limits
from tests.node.kubelet.eviction.pods import make_pod

GIB = 1 << 30


@pytest.mark.parametrize(
    ("change", "used", "expected"),
    [
        ({}, {}, None),
        (
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}]},
            {"volume": 2 << 20},
            disk_limits.EMPTY_DIR,
        ),
        ({"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi"}}]}, {"volume": 1 << 20}, None),
        (
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Mi", "medium": "Memory"}}]},
            {"volume": 2 << 20},
            None,
        ),
        ({"limit": "1Mi"}, {"pod": 2 << 20}, disk_limits.POD),
        ({"limit": "1Mi"}, {"logs": 2 << 20}, disk_limits.CONTAINER),
        ({"limit": "1Mi"}, {"logs": 1000}, None),
    ],
)
def test_limits_of_local_storage(change: dict[str, Any], used: dict[str, int], expected: str | None) -> None:
    pod = make_pod("p", volumes=change.get("volumes", []))
    if "limit" in change:
        pod["spec"]["containers"][0]["resources"]["limits"] = {"ephemeral-storage": change["limit"]}
    stats = {
        "volume": [{"name": "v", "usedBytes": used.get("volume", 0)}],
        "ephemeral-storage": {"usedBytes": used.get("pod", 0)},
        "containers": [{"name": "c", "logs": {"usedBytes": used.get("logs", 0)}, "rootfs": {}}],
    }
    assert disk_limits.has_disk_limits(pod) is (bool(change) and "Memory" not in str(change))
    over = disk_limits.exceeded_limit(pod, stats)
    assert (over[0] if over else None) == expected
