"""Which groups could make room for pods, for clusters made of objects."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.autoscaler.cluster import node_templates
from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.provider import NodeGroup
from pybernetes.control_plane.autoscaler.scale_up import estimator, scale_up
from pybernetes.control_plane.autoscaler.scale_up.scale_up import Candidate, Findings, Limits, Size
from tests.control_plane.autoscaler.fakes import cluster_of, node, pod

ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}


DAEMON = {
    "metadata": {"name": "agent", "namespace": "default", "uid": "d"},
    "spec": {
        "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}
    },
}


def find(
    cluster: Cluster, sizes: Size | None = None, limits: Limits | None = None, **groups: dict[str, Any]
) -> Findings:
    """Return how groups could help the pods of a cluster that have no room."""
    candidates = []
    for name, fields in groups.items():
        more = dict(fields)
        maximum, target, skipped = (
            more.pop(key, default) for key, default in (("maximum", 10), ("target", 0), ("skipped", ""))
        )
        made = node_templates.from_object(cluster, node(name, group=name, **more), name)
        template = node_templates.template(cluster, name, made, cluster.listers.all("daemonsets"))
        candidates.append(Candidate(NodeGroup(name, 0, maximum), target, template, skipped))
    pending = estimator.equivalence_groups(record.pod for record in cluster.pending.values())
    return scale_up.find(cluster, pending, candidates, sizes or Size(0, 0, 0), limits or Limits())


def sizes(findings: Findings) -> dict[str, tuple[int, int]]:
    return {option.group: (option.nodes, len(option.pods)) for option in findings.options}


@pytest.mark.parametrize(
    ("pods", "groups", "expected"),
    [
        ([pod(f"p{number}") for number in range(5)], {"a": {}}, {"a": (3, 5)}),
        ([pod("p", cpu="3")], {"a": {}, "b": {"cpu": "4"}}, {"b": (1, 1)}),
        ([pod("p", nodeSelector={"disk": "ssd"})], {"a": {}, "b": {"labels": {"disk": "ssd"}}}, {"b": (1, 1)}),
        ([pod("p")], {"a": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, {}),
        ([pod("p")], {"a": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}}, {"a": (1, 1)}),
        (
            [pod("p", tolerations=[{"key": "k", "operator": "Exists"}])],
            {"a": {"taints": [{"key": "k", "effect": "NoSchedule"}]}},
            {"a": (1, 1)},
        ),
        ([pod(f"p{number}", cpu="100m", affinity=ANTI) for number in range(3)], {"a": {}}, {"a": (3, 3)}),
        ([pod(f"p{number}") for number in range(9)], {"a": {"maximum": 2}}, {"a": (2, 4)}),
    ],
)  # fmt: skip
def test_groups_that_help(pods: Any, groups: Any, expected: dict[str, tuple[int, int]]) -> None:
    cluster = cluster_of(pods=pods)
    before = cluster.snapshot.node_count
    assert sizes(find(cluster, **groups)) == expected
    assert (cluster.snapshot.node_count, sum(map(len, cluster.snapshot.pods))) == (before, 0)


def test_pods_of_daemon_sets_take_their_share() -> None:
    cluster = cluster_of(pods=[pod(f"p{number}") for number in range(2)], daemonsets=[DAEMON])
    assert sizes(find(cluster, a={})) == {"a": (2, 2)}


@pytest.mark.parametrize(
    ("group", "size", "limits", "reason"),
    [
        ({"target": 10}, Size(10, 0, 0), Limits(), "max node group size reached"),
        ({"skipped": scale_up.BACKOFF}, Size(0, 0, 0), Limits(), "in backoff after failed scale-up"),
        ({}, Size(3, 0, 0), Limits(nodes=3), "max total nodes in cluster reached"),
        ({}, Size(1, 3000, 0), Limits(cores=4), 'exceeded quota: "cluster-wide", resources: cpu'),
        ({"cpu": "500m"}, Size(0, 0, 0), Limits(), "Insufficient cpu"),
        ({"labels": {"x": "y"}, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}, Size(0, 0, 0), Limits(),
         "node(s) had untolerated taint(s)"),
    ],
)  # fmt: skip
def test_why_groups_do_not_help(group: Any, size: Size, limits: Limits, reason: str) -> None:
    findings = find(cluster_of(pods=[pod("p")]), size, limits, a=group)
    assert findings.options == []
    assert list(findings.refusals[0][1]) == [reason]
    text = scale_up.message(findings.refusals[0][1])
    assert text == (reason if reason == scale_up.MAX_NODES_TOTAL else f"1 {reason}")


def test_without_time_no_group_is_thought_about() -> None:
    cluster = cluster_of([], [pod("p")])
    made = node_templates.from_object(cluster, node("g", group="g"), "g")
    candidate = Candidate(NodeGroup("g", 0, 9), 0, node_templates.template(cluster, "g", made, ()))
    pending = estimator.equivalence_groups(record.pod for record in cluster.pending.values())
    for seconds, helps in ((10.0, 1), (0.0, 0)):
        findings = scale_up.find(cluster, pending, [candidate], Size(0, 0, 0), Limits(), 10.0, seconds)
        assert len(findings.options) == helps
