"""Why a pod fits nowhere, as upstream words it."""

from __future__ import annotations

from tests.scheduling.asking import world
from tests.scheduling.builders import node, pod


def test_the_message_counts_reasons_as_upstream_does() -> None:
    ours = world(
        node("a", cpu="1"), node("b", cpu="1"), node("c", taints=[{"key": "k", "effect": "NoSchedule"}]),
        node("d", unschedulable=True), node("e", labels={"x": "y"}, pods="0"),
    )  # fmt: skip
    assert ours.why_not(pod("p", cpu="2")) == (
        "0/5 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, "
        "2 Insufficient cpu."
    )


def test_only_named_nodes_are_looked_at() -> None:
    ours = world(node("a", cpu="1"), node("b"), node("c"))
    fields = [{"key": "metadata.name", "operator": "In", "values": ["a"]}]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    assert ours.decide(pod("p", affinity=affinity)).node == "a"
    assert ours.why_not(pod("p", cpu="2", affinity=affinity)) == (
        "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )
    required["nodeSelectorTerms"][0]["matchFields"].append(
        {"key": "metadata.name", "operator": "In", "values": ["b"]}
    )
    assert (
        ours.why_not(pod("p", affinity=affinity)) == "0/3 nodes are available: pod affinity terms conflict."
    )


def test_without_nodes() -> None:
    assert world().why_not(pod("p")) == "no nodes available to schedule pods"
