"""Which pods are static, mirrors or critical, and their QoS class."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.pod_kinds import MIRROR, SOURCE, is_critical, is_mirror, is_static, qos_of
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    ("annotations", "priority", "static", "mirror", "critical"),
    [
        ({}, 0, False, False, False),
        ({SOURCE: "api"}, 0, False, False, False),
        ({SOURCE: "file"}, 0, True, False, True),
        ({SOURCE: "file", MIRROR: "hash"}, 0, True, True, True),
        ({}, 2_000_000_000, False, False, True),
    ],
)
def test_kinds_of_pods(
    annotations: dict[str, str], priority: int, static: bool, mirror: bool, critical: bool
) -> None:
    made = pod(priority=priority)
    made["metadata"]["annotations"] = annotations
    assert (is_static(made), is_mirror(made), is_critical(made)) == (static, mirror, critical)


def test_the_qos_class_of_the_status_wins() -> None:
    assert qos_of(pod()) == "BestEffort"
    assert qos_of({**pod(), "status": {"qosClass": "Burstable"}}) == "Burstable"
