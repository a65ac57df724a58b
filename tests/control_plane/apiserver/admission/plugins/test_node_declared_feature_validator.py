"""NodeDeclaredFeatureValidator: what it sets, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    FORBIDDEN,
    GB,
    refusal,
    resized,
)
from tests.control_plane.apiserver.admission.world import Object, requests


def _memory(size: str) -> Object:
    return {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory", "sizeLimit": size}}]}


def _init(cpu: str, **more: Any) -> Object:
    return {"initContainers": [{"name": "i", "image": "i", **requests({"cpu": cpu}), **more}]}


@pytest.mark.parametrize(
    ("new", "old", "missing"),
    [
        ({}, {}, ""),
        ({"resources": {"requests": {"cpu": "1"}}}, {}, ""),
        (_memory("1Gi"), _memory("1024Mi"), ""),
        (_memory("1Gi"), _memory("2Gi"), "InPlacePodVerticalScalingMemoryBackedVolumes"),
        (_init("1"), _init("2"), "InPlacePodVerticalScalingInitContainers"),
        (_init("1", restartPolicy="Always"), _init("2", restartPolicy="Always"), ""),
        (
            {**_init("1"), **_memory("1Gi")},
            {**_init("2"), **_memory("2Gi")},
            "InPlacePodVerticalScalingInitContainers, InPlacePodVerticalScalingMemoryBackedVolumes",
        ),
    ],
)
def test_node_declared_feature_validator(new: Object, old: Object, missing: str) -> None:
    node = ("", "nodes", {"metadata": {"name": "n"}, "status": GB})
    problem = refusal("NodeDeclaredFeatureValidator", resized(**new), node, old=resized(1, **old))
    text = f'pod update requires features {missing} which are not available on node "n"'
    assert problem == (FORBIDDEN + text if missing else "")
