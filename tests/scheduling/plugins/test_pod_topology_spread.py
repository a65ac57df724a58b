"""PodTopologySpread: what the random tests cannot show."""

from __future__ import annotations

import pytest

from pybernetes.api.resource import Object
from tests.scheduling.asking import put, refused, scores, world
from tests.scheduling.builders import node, pod

ZONE = "topology.kubernetes.io/zone"


def test_cluster_defaults_of_spreading() -> None:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    arguments = {"defaultingType": "List", "defaultConstraints": [constraint]}
    config = {"pluginConfig": [{"name": "PodTopologySpread", "args": arguments}]}
    ours = world(node("a", labels={ZONE: "1"}), node("b", labels={ZONE: "2"}), config=config)
    ours.object(
        "services", {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "x"}}}
    )
    put(ours, "a", pod("there", labels={"app": "x"}))
    reason = ("node(s) didn't match pod topology spread constraints",)
    assert refused(ours, "PodTopologySpread", pod("p", labels={"app": "x"})) == {"a": reason}
    assert refused(ours, "PodTopologySpread", pod("p", labels={"app": "other"})) == {}


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_pods_of_a_controller_are_spread_by_its_selector(kind: str) -> None:
    ours = world(node("a"), node("b"))
    api_version, plural = (
        ("v1", "replicationcontrollers")
        if kind == "ReplicationController"
        else ("apps/v1", f"{kind.lower()}s")
    )
    selector: Object = {"app": "x"} if api_version == "v1" else {"matchLabels": {"app": "x"}}
    ours.object(plural, {"metadata": {"name": "o", "namespace": "default"}, "spec": {"selector": selector}})
    put(ours, "a", pod("there", labels={"app": "x"}))
    obj = pod("p", labels={"app": "x"})
    obj["metadata"]["ownerReferences"] = [
        {"apiVersion": api_version, "kind": kind, "name": "o", "controller": True}
    ]
    by_node = scores(ours, "PodTopologySpread", obj)
    assert by_node["b"] > by_node["a"]
