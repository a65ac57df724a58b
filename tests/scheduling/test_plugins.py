"""Each plugin by a table: which nodes it turns down and in which words, how it scores, what wakes its pods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pybernetes.api.resource import Object
from pybernetes.scheduling.config import default_arguments, profile_config
from pybernetes.scheduling.plugin import FilterPlugin, ScorePlugin
from pybernetes.scheduling.plugins.node_resources_fit import NodeResourcesFit, shape_table
from tests.control_plane.scheduler.helpers import node, pod
from tests.scheduling.ours import Ours

ZONE = "topology.kubernetes.io/zone"


def world(*nodes: Object, config: Object | None = None) -> Ours:
    ours = Ours(config=profile_config(config or {}, 0))
    for obj in nodes:
        ours.node(obj)
    return ours


def put(ours: Ours, on: str, obj: Object) -> None:
    obj["metadata"]["uid"] = obj["metadata"].get("uid", f"{on}/{obj['metadata']['name']}")
    ours.put(obj, on)


def refused(ours: Ours, plugin: str, obj: Object) -> dict[str, tuple[str, ...]]:
    """The reasons of each node."""
    instance, made = ours.profile.plugins[plugin], ours.pods.read(obj)
    assert isinstance(instance, FilterPlugin)
    if instance.filter_key(made) is None:
        return {}
    codes = instance.filter(made, ours.snapshot.all)
    return {
        ours.snapshot.names[row]: instance.reasons(made, int(code)) for row, code in enumerate(codes) if code
    }


def scores(ours: Ours, plugin: str, obj: Object) -> dict[str, int]:
    instance, made = ours.profile.plugins[plugin], ours.pods.read(obj)
    assert isinstance(instance, ScorePlugin)
    if instance.score_key(made) is None:
        return {}
    rows = np.arange(ours.snapshot.size)
    values = instance.score(made, rows)
    if instance.normalizes:
        values = instance.normalize(made, values, rows)
    return {ours.snapshot.names[row]: int(value) for row, value in enumerate(values)}


def term(key: str, selector: Object | None, **more: Any) -> Object:
    return {"topologyKey": key, "labelSelector": selector, **more}


# -- messages ------------------------------------------------------------------------------------------------


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


# -- NodeResourcesFit ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requests", "reasons"),
    [
        ({"cpu": "1"}, ()),
        ({"cpu": "1500m", "memory": "1Gi"}, ("Insufficient cpu",)),
        ({"cpu": "3", "memory": "9Gi"}, ("Insufficient cpu", "Insufficient memory")),
        ({"example.com/gpu": "1"}, ("Insufficient example.com/gpu",)),
        ({"example.com/free": "2"}, ()),
        ({"hugepages-2Mi": "4Mi"}, ("Insufficient hugepages-2Mi",)),
        ({"ephemeral-storage": "1"}, ("Insufficient ephemeral-storage",)),
        ({"example.com/gpu": "0"}, ()),
    ],
)
def test_amounts(requests: Object, reasons: tuple[str, ...]) -> None:
    small = node("n", cpu="2")
    small["status"]["allocatable"]["example.com/free"] = "2"
    ours = world(small)
    put(ours, "n", pod("there", cpu="1"))
    obj = pod("p")
    obj["spec"]["containers"][0]["resources"]["requests"] = requests
    assert refused(ours, "NodeResourcesFit", obj).get("n", ()) == reasons


def test_ignored_resources_and_groups() -> None:
    arguments = {"ignoredResources": ["example.com/a"], "ignoredResourceGroups": ["group.io"]}
    config = {"pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}]}
    ours = world(node("n"), config=config)
    obj = pod("p")
    obj["spec"]["containers"][0]["resources"]["requests"] = {
        "example.com/a": "1",
        "group.io/x": "1",
        "cpu": "1",
    }
    assert refused(ours, "NodeResourcesFit", obj) == {}


@pytest.mark.parametrize(
    ("status", "cpu"),
    [
        ({}, 1000),  # what is asked for
        ({"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "2"}}]}, 2000),  # promised more
        ({"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}, 3000),  # has more
        ({"containerStatuses": [{"name": "main", "allocatedResources": {"cpu": "500m"}, "resources": {"requests": {"cpu": "500m"}}}],
          "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}, 500),  # will not get it
    ],
)  # fmt: skip
def test_a_resized_pod_takes_the_most_of_what_it_has_and_what_it_asks_for(status: Object, cpu: int) -> None:
    ours = world(node("n"))
    put(ours, "n", {**pod("there", cpu="1"), "status": status})
    assert int(ours.snapshot.requested[0, 0]) == cpu


def test_resources_of_the_pod_as_a_whole() -> None:
    ours = world(node("n"))
    put(ours, "n", pod("there", cpu="1", resources={"requests": {"cpu": "2", "memory": "1Gi"}}))
    assert (int(ours.snapshot.requested[0, 0]), int(ours.snapshot.requested[1, 0])) == (2000, 2**30)
    assert (int(ours.snapshot.counted[0, 0]), int(ours.snapshot.counted[1, 0])) == (2000, 2**30)


def strategy(type_: str, **more: Any) -> Object:
    arguments = {"scoringStrategy": {"type": type_, "resources": [{"name": "cpu", "weight": 1}], **more}}
    return {"pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}]}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (strategy("LeastAllocated"), {"a": 25, "b": 62}),
        (strategy("MostAllocated"), {"a": 75, "b": 37}),
        (
            strategy("RequestedToCapacityRatio", requestedToCapacityRatio={
                "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
            }),
            {"a": 75, "b": 37},
        ),
        (
            strategy("RequestedToCapacityRatio", requestedToCapacityRatio={
                "shape": [{"utilization": 0, "score": 10}, {"utilization": 50, "score": 0}]
            }),
            {"a": 0, "b": 26},
        ),
    ],
)  # fmt: skip
def test_scoring_strategies(config: Object, expected: dict[str, int]) -> None:
    ours = world(node("a", cpu="4"), node("b", cpu="8"), config=config)
    for name in ("a", "b"):
        put(ours, name, pod("there", cpu="2"))
    assert scores(ours, "NodeResourcesFit", pod("p", cpu="1")) == expected


def test_shapes_are_cut_towards_zero() -> None:
    table = shape_table([{"utilization": 0, "score": 10}, {"utilization": 30, "score": 0}])
    assert [int(table[use]) for use in (0, 1, 15, 29, 30, 31, 100)] == [100, 97, 50, 4, 0, 0, 0]
    assert default_arguments("VolumeBinding", {})["shape"][0] == {"utilization": 0, "score": 10}


# -- ports, taints, affinity, spreading: the random tests compare these; here is what they cannot show ----------


@pytest.mark.parametrize(
    ("mine", "theirs", "clash"),
    [
        ({"hostPort": 80}, {"hostPort": 80}, True),
        ({"hostPort": 80}, {"hostPort": 80, "hostIP": "10.0.0.1"}, True),
        ({"hostPort": 80, "hostIP": "10.0.0.2"}, {"hostPort": 80, "hostIP": "10.0.0.1"}, False),
        ({"hostPort": 80}, {"hostPort": 80, "protocol": "UDP"}, False),
        ({"hostPort": 80}, {"hostPort": 81}, False),
    ],
)
def test_ports(mine: Object, theirs: Object, clash: bool) -> None:
    def with_port(name: str, port: Object) -> Object:
        obj = pod(name)
        obj["spec"]["containers"][0]["ports"] = [{"containerPort": 1, **port}]
        return obj

    ours = world(node("n"))
    put(ours, "n", with_port("there", theirs))
    reason = ("node(s) didn't have free ports for the requested pod ports",)
    assert refused(ours, "NodePorts", with_port("p", mine)) == ({"n": reason} if clash else {})


def test_added_affinity_holds_for_every_pod() -> None:
    def wanted(key: str) -> Object:
        return {"matchExpressions": [{"key": key, "operator": "Exists"}]}

    added = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [wanted("pool")]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": wanted("fast")}],
    }
    config = {"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": added}}]}
    ours = world(
        node("a"),
        node("b", labels={"pool": "x"}),
        node("c", labels={"pool": "x", "fast": "y"}),
        config=config,
    )
    assert refused(ours, "NodeAffinity", pod("p")) == {
        "a": ("node(s) didn't match scheduler-enforced node affinity",)
    }
    assert ours.decide(pod("p")).node == "c"


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


def test_images() -> None:
    def with_image(name: str, size: int | None) -> Object:
        obj = node(name)
        if size is not None:
            obj["status"]["images"] = [{"names": ["example/app:1"], "sizeBytes": size * 2**20}]
        return obj

    ours = world(with_image("a", 500), with_image("b", None), with_image("c", 4000))
    # Sizes count by the share of nodes that have the image, between 23 MB and 1000 MB.
    assert scores(ours, "ImageLocality", pod("p")) == {"a": 31, "b": 0, "c": 100}
    assert scores(world(node("a")), "ImageLocality", pod("p")) == {}


def test_terms_by_namespace() -> None:
    ours = world(node("a"), node("b"))
    ours.object("namespaces", {"metadata": {"name": "red", "labels": {"team": "red"}}})
    there = pod("there", labels={"app": "x"})
    there["metadata"]["namespace"] = "red"
    put(ours, "a", there)

    def placed(**more: Any) -> set[str]:
        terms = [term("kubernetes.io/hostname", {"matchLabels": {"app": "x"}}, **more)]
        anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        return set(refused(ours, "InterPodAffinity", pod("p", affinity=anti)))

    assert placed() == set()
    assert placed(namespaces=["red"]) == {"a"}
    assert placed(namespaceSelector={}) == {"a"}
    assert placed(namespaceSelector={"matchLabels": {"team": "red"}}) == {"a"}
    assert placed(namespaceSelector={"matchLabels": {"team": "blue"}}) == set()
    ours.object("namespaces", {"metadata": {"name": "red", "labels": {"team": "blue"}}})
    assert placed(namespaceSelector={"matchLabels": {"team": "blue"}}) == {"a"}


def test_hints_of_resources() -> None:
    ours = world()
    fit = ours.profile.plugins["NodeResourcesFit"]
    assert isinstance(fit, NodeResourcesFit)
    wants = ours.pods.read(pod("p", cpu="3"))

    def read(cpu: str) -> Any:
        return ours.nodes.read(node("n", cpu=cpu))

    for old, new, helps in (
        (None, "2", False),
        (None, "4", True),
        ("4", "4", False),
        ("3", "4", True),
        ("4", "2", False),
    ):
        assert fit._after_node(wants, None if old is None else read(old), read(new)) is helps, (old, new)


def test_a_share_of_the_nodes_is_enough_if_the_configuration_says_so() -> None:
    ours = world(*(node(f"n{number}") for number in range(300)), config={"percentageOfNodesToScore": 40})
    chosen = set()
    for number in range(3):
        decision = ours.decide(pod("p"))
        assert decision.feasible == 120, number
        chosen.add(decision.node)
    assert len(chosen) > 1
