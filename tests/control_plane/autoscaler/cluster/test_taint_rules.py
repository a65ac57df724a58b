"""What taints and conditions say of a node."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.autoscaler.cluster import node_templates
from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.cluster.taint_rules import TaintRules
from tests.control_plane.autoscaler.fakes import node


@pytest.mark.parametrize(
    ("conditions", "taints", "ready"),
    [
        ({"Ready": "True"}, [], True),
        ({"Ready": "False"}, [], False),
        ({"Ready": "Unknown"}, [], False),
        ({}, [], False),
        ({"Ready": "True", "DiskPressure": "True"}, [], False),
        ({"Ready": "True", "NetworkUnavailable": "True"}, [], False),
        ({"Ready": "True", "NetworkUnavailable": "False"}, [], True),
        ({"Ready": "True", "MemoryPressure": "True", "PIDPressure": "True"}, [], True),
        ({"Ready": "True"}, ["node.kubernetes.io/not-ready"], False),
        ({"Ready": "True"}, ["node.kubernetes.io/disk-pressure"], False),
        ({"Ready": "True"}, ["node.kubernetes.io/network-unavailable"], False),
        ({"Ready": "True"}, ["node.cloudprovider.kubernetes.io/uninitialized"], False),
        ({"Ready": "True"}, ["node.kubernetes.io/memory-pressure"], True),
        ({"Ready": "True"}, ["startup-taint.cluster-autoscaler.kubernetes.io/x"], False),
        ({"Ready": "True"}, ["ignore-taint.cluster-autoscaler.kubernetes.io/x"], False),
        ({"Ready": "True"}, ["status-taint.cluster-autoscaler.kubernetes.io/x"], True),
        ({"Ready": "True"}, ["example.com/starts"], False),
        ({"Ready": "True"}, ["example.com/says"], True),
        ({"Ready": "True"}, ["prefix.example.com/x"], False),
        ({"Ready": "True"}, ["example.com/other"], True),
    ],
)
def test_nodes_that_take_pods(conditions: dict[str, str], taints: list[str], ready: bool) -> None:
    rules = TaintRules(
        frozenset({"example.com/starts"}), ("prefix.example.com/",), frozenset({"example.com/says"})
    )
    obj = node("n", taints=[{"key": key, "effect": "NoSchedule"} for key in taints])
    obj["status"]["conditions"] = [{"type": kind, "status": status} for kind, status in conditions.items()]
    made = Cluster(taints=rules).read_node(obj)
    assert made.ready is ready
    # What says nothing about later nodes is on none of them.
    lasting = [taint.key for taint in node_templates.from_node(made, "g", rules)[0].taints]
    assert lasting == (["example.com/other"] if taints == ["example.com/other"] else [])


def test_what_taints_are_counted_as() -> None:
    rules = TaintRules(frozenset({"starts"}), ("prefix/",), frozenset({"says"}))
    kinds = {
        "starts": "startup-taint", "prefix/x": "startup-taint", "says": "status-taint", "anything": "other",
        "startup-taint.cluster-autoscaler.kubernetes.io/x": "startup-taint",
        "status-taint.cluster-autoscaler.kubernetes.io/x": "status-taint",
        "ignore-taint.cluster-autoscaler.kubernetes.io/x": "ignore-taint.cluster-autoscaler.kubernetes.io/",
        "node.kubernetes.io/not-ready": "node.kubernetes.io/not-ready",
        "ToBeDeletedByClusterAutoscaler": "ToBeDeletedByClusterAutoscaler",
    }  # fmt: skip
    assert {key: rules.kind(key) for key in kinds} == kinds
