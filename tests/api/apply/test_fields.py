"""The sets of real objects (recorded from Kubernetes v1.37), and what differs between two."""

import tracemalloc
from typing import Any

import pytest

from pybernetes.api import schema
from pybernetes.api.apply import elements, field_sets, fields
from pybernetes.api.apply.created_fields import DEDUCED, whole
from pybernetes.api.apply.managed_fields import created
from pybernetes.api.resource import Object
from pybernetes.api.schema.types import Type

POD = schema.kind_type("", "v1", "Pod")
DEPLOYMENT = schema.kind_type("apps", "v1", "Deployment")
SET = Type("list")
SET.item = Type("integer")
LEAF: Object = {}
OWN = {".": LEAF}

POD_OBJECT = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "n", "uid": "u", "labels": {"a": "b"}},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "env": [{"name": "A", "value": "b"}],
                "ports": [{"containerPort": 80, "protocol": "TCP"}],
                "resources": {},
                "volumeMounts": [{"name": "v", "mountPath": "/x"}],
            }
        ],
        "securityContext": {},
        "tolerations": [{"key": "a"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
    "status": {"phase": "Pending"},
}
POD_SET = {
    "f:metadata": {"f:labels": {**OWN, "f:a": LEAF}},
    "f:spec": {
        "f:containers": {
            'k:{"name":"c"}': {
                **OWN,
                "f:env": {**OWN, 'k:{"name":"A"}': {**OWN, "f:name": LEAF, "f:value": LEAF}},
                "f:image": LEAF,
                "f:name": LEAF,
                "f:ports": {
                    **OWN,
                    'k:{"containerPort":80,"protocol":"TCP"}': {
                        **OWN,
                        "f:containerPort": LEAF,
                        "f:protocol": LEAF,
                    },
                },
                "f:resources": LEAF,
                "f:volumeMounts": {
                    **OWN,
                    'k:{"mountPath":"/x"}': {**OWN, "f:mountPath": LEAF, "f:name": LEAF},
                },
            }
        },
        "f:securityContext": LEAF,
        "f:tolerations": LEAF,
        "f:volumes": {**OWN, 'k:{"name":"v"}': {**OWN, "f:emptyDir": LEAF, "f:name": LEAF}},
    },
}


def test_whoever_creates_a_pod() -> None:
    owned = created(POD_OBJECT, POD, {"f:status": {}})
    assert owned == POD_SET
    assert list(owned["f:spec"]) == sorted(owned["f:spec"])


def test_structs_held_by_value_are_not_owned_themselves() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}
    deployment = {
        "metadata": {},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"type": "Recreate"},
            "template": template,
        },
    }
    assert created(deployment, DEPLOYMENT) == {
        "f:spec": {
            "f:selector": LEAF,
            "f:strategy": {"f:type": LEAF},
            "f:template": {
                "f:metadata": {"f:labels": {**OWN, "f:a": LEAF}},
                "f:spec": {"f:containers": LEAF},
            },
        }
    }


def test_a_value_that_was_there_from_the_start_is_not_owned() -> None:
    kind = schema.kind_type("scheduling.k8s.io", "v1", "PriorityClass")
    assert created({"metadata": {}, "value": 0, "description": "x"}, kind) == {"f:description": LEAF}
    assert created({"metadata": {}, "value": 1}, kind) == {"f:value": LEAF}


def test_a_configuration_claims_leaves_and_items() -> None:
    claimed = fields.of(POD_OBJECT, POD)
    assert claimed["f:metadata"]["f:labels"] == {"f:a": LEAF}
    container = claimed["f:spec"]["f:containers"]['k:{"name":"c"}']
    assert container["f:env"] == {'k:{"name":"A"}': {**OWN, "f:name": LEAF, "f:value": LEAF}}
    assert container["f:resources"] == LEAF


def test_the_default_of_a_key_names_the_item() -> None:
    spec = {"containers": [{"name": "c", "ports": [{"containerPort": 80}]}]}
    node = fields.of({"spec": spec}, POD)["f:spec"]["f:containers"]['k:{"name":"c"}']
    assert node["f:ports"] == {'k:{"containerPort":80,"protocol":"TCP"}': {**OWN, "f:containerPort": LEAF}}


def pod(**spec: Any) -> Object:
    return {"metadata": {}, "spec": spec}


ENV = 'k:{"name":"A"}'


def env(*values: str) -> Object:
    items = [{"name": "A", "value": value} for value in values]
    return pod(containers=[{"name": "c", "env": items}])


def test_times_of_conditions_are_never_absent() -> None:
    kind = schema.kind_type("", "v1", "Pod")
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    node = created({"metadata": {}, "status": status}, kind)["f:status"]["f:conditions"]['k:{"type":"Ready"}']
    times = {"f:lastProbeTime": LEAF, "f:lastTransitionTime": LEAF}
    assert node == {**OWN, **times, "f:status": LEAF, "f:type": LEAF}


def test_structs_held_by_value_may_be_left_out() -> None:
    without = {"name": "c", "image": "i"}
    having = {**without, "resources": {}}
    assert created(pod(containers=[without]), POD) == created(pod(containers=[having]), POD)
    assert fields.compare(pod(containers=[without]), pod(containers=[having]), POD).same
    limits = {**without, "resources": {"limits": {"cpu": "1"}}}
    inside = {"f:resources": {"f:limits": {**OWN, "f:cpu": LEAF}}}
    changed = {"f:spec": {"f:containers": {'k:{"name":"c"}': inside}}}
    for bare in (without, having):
        assert fields.compare(pod(containers=[bare]), pod(containers=[limits]), POD) == (changed, {}, {})
        assert fields.compare(pod(containers=[limits]), pod(containers=[bare]), POD) == ({}, {}, changed)


def in_env(node: Any) -> Object:
    return {"f:spec": {"f:containers": {'k:{"name":"c"}': {"f:env": {ENV: node}}}}}


ITEM = {**OWN, "f:name": LEAF, "f:value": LEAF}


@pytest.mark.parametrize(
    ("old", "new", "added", "modified", "removed"),
    [
        (pod(), pod(), {}, {}, {}),
        (pod(nodeName="a"), pod(nodeName="b"), {}, {"f:spec": {"f:nodeName": LEAF}}, {}),
        (pod(), pod(nodeName="b"), {"f:spec": {"f:nodeName": LEAF}}, {}, {}),
        (pod(nodeName="a"), pod(), {}, {}, {"f:spec": {"f:nodeName": LEAF}}),
        (pod(tolerations=[1]), pod(tolerations=[2]), {}, {"f:spec": {"f:tolerations": LEAF}}, {}),
        (
            pod(overhead={"a": "1"}),
            pod(overhead={"b": "1"}),
            {"f:spec": {"f:overhead": {"f:b": LEAF}}},
            {},
            {"f:spec": {"f:overhead": {"f:a": LEAF}}},
        ),
        (env("1"), env("2"), {}, in_env({"f:value": LEAF}), {}),
        (env("1", "2"), env("1", "3"), {}, in_env(LEAF), {}),
        (env("1", "2"), env("1"), in_env(ITEM), {}, in_env(LEAF)),
        (env("1"), env("1", "2"), in_env(LEAF), {}, in_env(ITEM)),
    ],
)
def test_compare(old: Any, new: Any, added: Any, modified: Any, removed: Any) -> None:
    assert fields.compare(old, new, POD) == (added, modified, removed)


def test_fields_without_a_schema() -> None:
    value = {"a": {"b": [1], "c": {}}, "d": 1}
    assert whole(value, DEDUCED) == {**OWN, "f:a": {**OWN, "f:b": LEAF, "f:c": LEAF}, "f:d": LEAF}
    custom = Type("struct")
    custom.item = DEDUCED
    changes = fields.compare({"a": {"b": 1}}, {"a": "text"}, custom)
    assert changes == ({}, {"f:a": LEAF}, {"f:a": {"f:b": LEAF}})


def test_every_built_in_type_can_be_walked() -> None:
    for group, version, kind in (
        ("", "v1", "Node"),
        ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
    ):
        type_ = schema.kind_type(group, version, kind)
        assert created({"metadata": {"labels": {"a": "b"}}, "spec": {}}, type_) == {
            "f:metadata": {"f:labels": {**OWN, "f:a": LEAF}}
        }
    assert field_sets.paths({}) is not None


@pytest.mark.parametrize(
    "items",
    [[10, 9, 2.5, -1, 2.0], ["b", "a", "\U0001f600", "\uffff", ""], [True, 3, "x", 1, False], [1, 1.0, 1]],
    ids=str,
)
def test_sets_are_in_the_order_of_their_elements(items: list[Any]) -> None:
    fields = whole(items, SET)
    assert list(fields) == sorted(fields, key=elements.order)
    assert set(fields) == {".", *(elements.of_item(item, SET) for item in items)}


def test_a_large_set_takes_little_memory() -> None:
    """It was 300 bytes for each item, most of them what the items were sorted by."""
    items = list(range(50_000))
    tracemalloc.start()
    try:
        whole(items, SET)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most / len(items) < 150
