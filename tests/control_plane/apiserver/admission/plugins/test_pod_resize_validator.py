"""PodResizeValidator: what it sets, and what it refuses."""

from __future__ import annotations

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    FORBIDDEN,
    GB,
    refusal,
    resized,
)
from tests.control_plane.apiserver.admission.world import Object, pod, requests


@pytest.mark.parametrize(
    ("labels", "new", "message"),
    [
        ({}, resized(container=requests({"cpu": "2", "memory": "1Gi"})), ""),
        ({}, resized(1, container=requests({"cpu": "9"})), ""),
        ({}, pod(metadata={"generation": 2}, container=requests({"cpu": "9"})), ""),
        (
            {},
            resized(container=requests({"cpu": "2100m", "memory": "2Gi"})),
            "node didn't have enough allocatable resources: cpu, requested: 2100, allocatable: 2000; memory, "
            "requested: 2147483648, allocatable: 1073741824",
        ),
        (
            {"kubernetes.io/os": "windows"},
            resized(),
            'pod resize is only supported on linux nodes, node "n" is "windows"',
        ),
    ],
)
def test_pod_resize_validator(labels: dict[str, str], new: Object, message: str) -> None:
    node = ("", "nodes", {"metadata": {"name": "n", "labels": labels}, "status": GB})
    problem = refusal("PodResizeValidator", new, node, old=resized(1), subresource="resize")
    assert problem == (FORBIDDEN + message if message else "")
    if not new["spec"].get("nodeName") or new["metadata"]["generation"] == 1:
        return
    assert (
        refusal("PodResizeValidator", new, old=resized(1), subresource="resize")
        == FORBIDDEN + 'node "n" not found'
    )
