"""Who may make a pod may write thousands of wishes into it: the scheduler's time grows with them, and not with their square."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pybernetes.api.resource import Object
from pybernetes.scheduling.plugin import FilterPlugin
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


def _asking(names: int) -> Object:
    obj = pod("p")
    amounts = {f"example.com/r{number}": "1" for number in range(names)}
    obj["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1", **amounts}}
    return obj


@pytest.mark.parametrize("names", [7, 61, 62, 63, 64, 200, 400])
def test_a_pod_that_asks_for_many_resources_fits_nowhere(names: int) -> None:
    ours = world(node("a"), node("b"))
    reasons = refused(ours, "NodeResourcesFit", _asking(names))
    assert set(reasons) == {"a", "b"} and "Insufficient example.com/r0" in reasons["a"]
    plugin, made = ours.profile.plugins["NodeResourcesFit"], ours.pods.read(_asking(names))
    assert isinstance(plugin, FilterPlugin)
    assert plugin.filter_row(made, 0) == int(plugin.filter(made, slice(0, 1))[0])


def test_what_only_pods_speak_of_has_few_columns() -> None:
    ours = world(node("a"))
    for start in range(5):
        obj = _asking(400)
        obj["spec"]["containers"][0]["resources"]["requests"] = {
            f"example.com/{start}-{number}": "1" for number in range(400)
        }
        assert refused(ours, "NodeResourcesFit", obj)
    assert len(ours.snapshot.allocatable) < 1000
    # A node's own are told apart for all that.
    offers = node("b")
    offers["status"]["allocatable"]["example.com/late"] = "1"
    ours.node(offers)
    wants = pod("wants")
    wants["spec"]["containers"][0]["resources"] = {"requests": {"example.com/late": "1"}}
    assert set(refused(ours, "NodeResourcesFit", wants)) == {"a"}
