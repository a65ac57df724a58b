"""Who may make a pod may write thousands of wishes into it: the scheduler's time grows with them, and not with their square."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pybernetes.api.resource import Object
from tests.doubling import MOST_GROWTH, Input, growth
from tests.scheduling.asking import put, refused, scores, world
from tests.scheduling.builders import node, pod

HOSTNAME = "kubernetes.io/hostname"
SELECTOR = {"matchLabels": {"app": "x"}}


def _spread(when: str) -> Callable[[int], Object]:
    def make(size: int) -> Object:
        keys = [f"key-{number}" for number in range(size)]
        constraints = [
            {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": SELECTOR, "nodeTaintsPolicy": "Honor"}
            for key in keys
        ]  # fmt: skip
        return pod("p", topologySpreadConstraints=constraints)

    return make


def _near(side: str) -> Callable[[int], Object]:
    def make(size: int) -> Object:
        terms = [
            {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": str(number)}}}
            for number in range(size)
        ]
        return pod("p", affinity={side: {"requiredDuringSchedulingIgnoredDuringExecution": terms}})

    return make


def _terms(size: int) -> Object:
    terms = [
        {"matchExpressions": [{"key": f"key-{number}", "operator": "NotIn", "values": ["a"]}]}
        for number in range(size)
    ]
    required = {"nodeSelectorTerms": terms}
    return pod("p", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})


def _tolerations(size: int) -> Object:
    return pod("p", tolerations=[{"key": f"key-{number}", "operator": "Exists"} for number in range(size)])


@pytest.mark.parametrize(
    ("plugin", "make"),
    [
        ("PodTopologySpread", _spread("DoNotSchedule")),
        ("PodTopologySpread", _spread("ScheduleAnyway")),
        ("InterPodAffinity", _near("podAffinity")),
        ("InterPodAffinity", _near("podAntiAffinity")),
        ("NodeAffinity", _terms),
        ("TaintToleration", _tolerations),
    ],
)
def test_twice_the_wishes_take_twice_the_time(plugin: str, make: Callable[[int], Object]) -> None:
    taint = {"key": "t", "effect": "NoSchedule"}
    ours = world(node("a"), node("b", taints=[taint]), node("c", labels={"key-1": "x"}))
    put(ours, "a", pod("there", labels={"app": "x"}))

    def take(obj: Object) -> None:
        refused(ours, plugin, obj)
        scores(ours, plugin, obj)

    grown = growth(Input(plugin, make, take, start=64, largest=8192))
    assert grown <= MOST_GROWTH, grown
