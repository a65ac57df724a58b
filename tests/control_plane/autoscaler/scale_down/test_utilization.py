"""How much of a node its pods ask for."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.autoscaler.scale_down.utilization import utilization
from pybernetes.lib import rfc3339
from tests.control_plane.autoscaler.fakes import cluster_of, node, pod

DELETED = "2026-01-01T00:00:00Z"
AFTER = rfc3339.parse(DELETED)


def test_use_is_the_larger_share() -> None:
    cluster = cluster_of(
        [node("n", cpu="4", memory="4Gi")], [pod("a", "n", cpu="1"), pod("b", "n", cpu="0", memory="2Gi")]
    )
    assert utilization(cluster.nodes["n"], cluster.pods_on("n")) == 0.5
    daemon = cluster_of(
        [node("n", cpu="4")], [pod("a", "n", cpu="2", owner="apps/v1 DaemonSet d"), pod("b", "n", cpu="1")]
    )
    assert utilization(daemon.nodes["n"], daemon.pods_on("n")) == 0.75
    assert utilization(daemon.nodes["n"], daemon.pods_on("n"), ignores_daemons=True) == 0.5


@pytest.mark.parametrize(
    ("pods", "options", "expected"),
    [
        ([pod("a", "n", cpu="1"), pod("b", "n", cpu="1", deleted=DELETED)], {"now": AFTER + 20}, 0.5),
        # What should be gone by now counts for nothing.
        ([pod("a", "n", cpu="1"), pod("b", "n", cpu="1", deleted=DELETED)], {"now": AFTER + 31}, 0.25),
        ([pod("a", "n", cpu="1", annotations={"kubernetes.io/config.mirror": "x"}), pod("b", "n", cpu="1")], {}, 0.5),
        ([pod("a", "n", cpu="1", annotations={"kubernetes.io/config.mirror": "x"}), pod("b", "n", cpu="1")],
         {"ignores_mirrors": True}, 1 / 3),
        ([pod("a", "n", cpu="1", owner="apps.example.com/v1 DaemonSet d"), pod("b", "n", cpu="1")],
         {"ignores_daemons": True}, 1 / 3),
    ],
)  # fmt: skip
def test_which_pods_use_a_node(pods: Any, options: Any, expected: float) -> None:
    cluster = cluster_of([node("n", cpu="4")], pods)
    assert utilization(cluster.nodes["n"], cluster.pods_on("n"), **options) == pytest.approx(expected)


def test_the_use_of_a_node_that_says_nothing_is_not_known() -> None:
    cluster = cluster_of([node("n", cpu="0")], [])
    assert utilization(cluster.nodes["n"], []) is None
