"""NodeResourcesFit: what is turned down, how it scores, what wakes its pods."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.scheduling.config import default_arguments
from pybernetes.scheduling.plugins.node_resources_fit import NodeResourcesFit, shape_table
from tests.scheduling.asking import put, refused, scores, world
from tests.scheduling.builders import node, pod


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
