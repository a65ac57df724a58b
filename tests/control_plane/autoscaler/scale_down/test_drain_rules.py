"""Which pods keep their node."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.autoscaler.scale_down import drain_rules
from pybernetes.lib import rfc3339
from tests.control_plane.autoscaler.fakes import cluster_of, pod

YOUNG = 10.0
SAFE = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
DELETED = "2026-01-01T00:00:00Z"
AFTER = rfc3339.parse(DELETED)


@pytest.mark.parametrize(
    ("changes", "options", "more", "expected"),
    [
        ({}, {}, {}, "moves"),
        ({"owner": ""}, {}, {}, drain_rules.NOT_REPLICATED),
        ({"owner": "example.com/v1 Thing x"}, {}, {}, drain_rules.NOT_REPLICATED),
        ({"owner": "example.com/v1 Thing x"}, {"skips_custom_controllers": False}, {}, "moves"),
        ({"owner": "apps/v1 DaemonSet x"}, {}, {}, "stays"),
        ({"owner": "apps/v1 DaemonSet x"}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({"owner": "batch/v1 Job x"}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({"owner": "batch/v1 Job x"}, {"minimum_replicas": 4}, {"replicas": 1}, "moves"),
        ({"owner": "batch/v1 Job x"}, {"skips_custom_controllers": False}, {"replicas": None}, "moves"),
        ({"owner": "", "annotations": {"kubernetes.io/config.mirror": "x"}}, {}, {}, "stays"),
        (
            {"owner": "", "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}},
            {},
            {},
            "moves",
        ),
        (
            {"owner": "", "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}},
            {},
            {},
            "waits",
        ),
        (
            {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
            {},
            {},
            drain_rules.NOT_SAFE,
        ),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, {}, {}, drain_rules.LOCAL_STORAGE),
        ({"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}, {}, {}, "moves"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}, {}, {}, drain_rules.LOCAL_STORAGE),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, {"skips_local_storage": False}, {}, "moves"),
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}],
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "v"},
            },
            {},
            {},
            "moves",
        ),
        ({"namespace": "kube-system"}, {}, {}, drain_rules.SYSTEM_POD),
        ({"namespace": "kube-system"}, {}, {"has_budget": True}, "moves"),
        ({"namespace": "kube-system"}, {}, {"age": 3601.0}, "moves"),
        ({"namespace": "kube-system"}, {"skips_system": False}, {}, "moves"),
        ({}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({}, {"minimum_replicas": 4}, {"replicas": 3}, drain_rules.MIN_REPLICAS),
        ({"deleted": DELETED}, {}, {"now": AFTER + 31.0}, "stays"),
        ({"deleted": DELETED}, {}, {"now": AFTER + 30.0}, "moves"),
        ({"deleted": DELETED, "terminationGracePeriodSeconds": 60}, {}, {"now": AFTER + 31.0}, "moves"),
        ({"deleted": DELETED, "terminationGracePeriodSeconds": 60}, {}, {"now": AFTER + 91.0}, "stays"),
        # Kinds count, of whatever group; what is not ours cannot be looked for.
        ({"owner": "apps.example.com/v1 StatefulSet x"}, {}, {"replicas": 0}, "moves"),
        ({"owner": "apps.example.com/v1 DaemonSet x"}, {}, {"replicas": 0}, "stays"),
        ({"owner": "example.com/v1 Job x"}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        # What ends by itself may still be safe to evict; an older rule comes first.
        ({"annotations": SAFE}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({"namespace": "kube-system", "annotations": SAFE}, {}, {}, "moves"),
        ({"volumes": [{"name": "v", "emptyDir": {}}], "annotations": SAFE}, {}, {}, "moves"),
        # Names of volumes are taken as they are.
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}],
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "v,w"},
            },
            {},
            {},
            "moves",
        ),
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}],
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "v, w"},
            },
            {},
            {},
            drain_rules.LOCAL_STORAGE,
        ),
    ],
)
def test_which_pods_keep_their_node(changes: Any, options: Any, more: Any, expected: str) -> None:
    record = cluster_of().read_pod(pod("p", "n", **changes))
    known = {"replicas": 3, "has_budget": False, "age": YOUNG, "now": AFTER, **more}
    verdict = drain_rules.verdict(record, drain_rules.Options(**options), **known)
    outcome = "moves" if verdict.moves else "waits" if verdict.waits else "stays"
    assert (verdict.blocks or outcome) == expected
