"""Groups of nodes: read from files and command lines, checked, grown and shrunk."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local import settings
from pybernetes.tools.local.nodes import node_group, node_registration
from pybernetes.tools.local.nodes.node_group import GroupError
from pybernetes.tools.local.settings import HollowNode, NodeGroup, NodeSettings, Settings


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        ({"name": "a"}, NodeGroup("a", 0, 10, 0)),
        ({"name": "a", "minimum": 2, "maximum": 4, "hollow": True}, NodeGroup("a", 2, 4, 2, True)),
        (
            {"name": "a", "taints": [{"key": "k", "value": "v", "effect": "NoExecute"}, "x:NoSchedule"]},
            NodeGroup("a", 0, 10, 0, taints=["k=v:NoExecute", "x:NoSchedule"]),
        ),
        ({"name": "a", "resources": {"cpu": 2}}, NodeGroup("a", 0, 10, 0, resources={"cpu": "2"})),
        ("a", "is not a group"),
        ({"name": "A"}, "is no name"),
        ({}, "is no name"),
        ({"name": "a", "size": 11}, "from 0 to 10 nodes; 11 is out of range"),
        ({"name": "a", "minimum": 5, "maximum": 1}, "minimum 5 and maximum 1"),
        ({"name": "a", "minimum": "1"}, "minimum: '1' is not a number"),
        ({"name": "a", "nodes": 1}, "unknown field 'nodes'"),
        ({"name": "a", "labels": {"kubernetes.io/x": "y"}}, "not for nodes to give themselves"),
        ({"name": "a", "labels": {"a b": "y"}}, "labels: a b=y"),
        ({"name": "a", "labels": []}, r"labels: \[\] is not a dict"),
        ({"name": "a", "taints": ["a=b:Never"]}, "the effect is none of"),
        ({"name": "a", "resources": {"cpu": "much"}}, "resources.cpu: 'much'"),
        ({"name": "a", "resources": {"cpu": "0"}}, "not more than nothing"),
        ({"name": "a", "role": "a b"}, "cannot be part of a label"),
    ],
)
def test_reading(obj: Any, expected: NodeGroup | str) -> None:
    if isinstance(expected, str):
        with pytest.raises(GroupError, match=expected):
            node_group.read(obj)
    else:
        assert node_group.read(obj) == expected


def test_a_file_makes_groups_with_their_nodes_and_leaves_others() -> None:
    before = Settings(nodes=[NodeSettings("c", 0)])
    groups = [{"name": "real", "minimum": 1}, {"name": "toy", "hollow": True, "size": 2}]
    after = settings.apply("c", before, {"node_groups": groups})
    assert [(node.name, node.group) for node in after.nodes] == [("c", ""), ("c-2", "real")]
    assert after.hollow_nodes == [HollowNode("hollow-toy-0", "toy"), HollowNode("hollow-toy-1", "toy")]
    again = settings.apply("c", after, {"node_groups": [{"name": "toy", "hollow": True, "minimum": 3}]})
    assert again.members(again.group("toy")) == ["hollow-toy-0", "hollow-toy-1", "hollow-toy-2"]
    assert again.members(again.group("real")) == ["c-2"]
    with pytest.raises(GroupError, match="cannot become real"):
        settings.apply("c", after, {"node_groups": [{"name": "toy"}]})
    with pytest.raises(GroupError, match="the same name"):
        settings.apply("c", before, {"node_groups": [{"name": "a"}, {"name": "a"}]})
    with pytest.raises(GroupError, match="2 nodes already"):
        settings.apply("c", after, {"node_groups": [{"name": "toy", "hollow": True, "maximum": 1}]})


def test_a_removed_node_leaves_its_name_to_the_next() -> None:
    group = NodeGroup("toy", hollow=True)
    state = Settings(node_groups=[group])
    for _ in range(3):
        state, _ = node_group.grown("c", state, group)
    state, name = node_group.grown("c", node_group.shrunk(state, "hollow-toy-1"), group)
    assert name == "hollow-toy-1"


def test_a_node_registers_with_what_its_group_and_itself_have() -> None:
    group = NodeGroup(
        "g", labels={"a": "1"}, taints=["a=1:NoSchedule"], resources={"cpu": "1"}, role="service"
    )
    node = NodeSettings("c", 0, group="g", labels={"b": "2"}, taints=["b:NoExecute"])
    state = Settings(nodes=[node], node_groups=[group])
    labels, taints, resources = state.registration(node)
    assert labels == {settings.GROUP_LABEL: "g", "a": "1", "b": "2"}
    assert (taints, resources) == (["a=1:NoSchedule", "b:NoExecute"], {"cpu": "1"})
    obj = node_group.node_object(group, "c", "n", {})
    assert obj["metadata"]["labels"]["node-role.kubernetes.io/service"] == ""
    assert obj["spec"] == {
        "providerID": "local://c/n",
        "taints": [{"key": "a", "value": "1", "effect": "NoSchedule"}],
    }


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, []),
        ({"cpu": "500m", "pods": "7"}, ["--max-pods=7", "--system-reserved=cpu=3500m"]),
        ({"memory": "1Gi"}, [f"--system-reserved=memory={7 * 2**30 - 100 * 2**20}"]),
        ({"cpu": "5"}, "more than this machine can give a node"),
        ({"memory": "8Gi"}, "more than this machine can give a node"),
        ({"example.com/gpu": "1"}, "a real node has cpu, memory"),
    ],
)
def test_a_real_node_has_what_is_not_reserved(resources: dict[str, str], expected: list[str] | str) -> None:
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "1Gi"}
    if isinstance(expected, str):
        with pytest.raises(GroupError, match=expected):
            node_registration.reservations(resources, capacity)
    else:
        assert node_registration.reservations(resources, capacity) == expected
