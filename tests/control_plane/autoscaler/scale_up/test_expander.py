"""What each expander chooses."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from pybernetes.control_plane.autoscaler.expanders import least_waste, price, priority
from pybernetes.control_plane.autoscaler.scale_up import expander
from pybernetes.control_plane.autoscaler.scale_up.estimator import Option
from pybernetes.control_plane.autoscaler.scale_up.expander import Context
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup, cluster_of, node, pod, template


def option(group: str, nodes: int, pods: int, cpu: str = "2", memory: str = "4Gi", asks: str = "1") -> Option:
    cluster = cluster_of()
    made = [cluster.read_pod(pod(f"{group}-{number}", cpu=asks, memory="1Gi")).pod for number in range(pods)]
    return Option(template(group, cpu=cpu, memory=memory, labels={"group": group}), nodes, made)


def choose(names: str, options: list[Option], **more: Any) -> str:
    context = Context(FakeCloud(), chance=random.Random(1), **more)
    chosen = asyncio.new_event_loop().run_until_complete(
        expander.choose(expander.chain(names), options, context)
    )
    return chosen.group if chosen is not None else ""


def test_expanders_choose() -> None:
    small, large = option("small", 2, 4), option("large", 1, 4, cpu="16", memory="64Gi")
    assert choose("least-waste", [large, small]) == "small"
    assert choose("most-pods", [small, option("more", 1, 5)]) == "more"
    assert choose("random", [small]) == "small"
    assert choose("random", []) == ""
    assert {choose("random", [small, large])} <= {"small", "large"}
    rules = {"metadata": {"name": "x"}, "data": {"priorities": "10: [large]\n5: ['.*']"}}
    assert choose("priority", [small, large], priorities=rules) == "large"
    assert choose("priority,least-waste", [large, small], priorities=None) == "small"
    with pytest.raises(
        ValueError, match="'cheapest' is none of least-waste, most-pods, price, priority, random"
    ):
        expander.chain("cheapest")
    with pytest.raises(ValueError, match="not supported"):
        expander.chain("grpc")
    with pytest.raises(ValueError, match="given once"):
        expander.chain("random,random")


def test_machines_are_judged_by_what_they_have_not_by_what_they_leave() -> None:
    reserved = Option(template("reserved", left={"cpu": "500m", "memory": "1Gi"}), 1, [])
    assert (reserved.template.cores, reserved.template.memory) == (2000, 4 << 30)
    assert least_waste.waste(reserved) == least_waste.waste(Option(template("all"), 1, []))
    cluster = cluster_of([node("n", left={"cpu": "500m"})])
    assert cluster.totals(["n"]) == (2000, 4 << 30)


def test_the_price_expander_takes_the_cheapest() -> None:
    cloud = FakeCloud(small=FakeGroup(price=1.0), large=FakeGroup(price=5.0))
    options = [option("large", 1, 4), option("small", 1, 4)]
    context = Context(cloud, nodes=2, chance=random.Random(1))
    loop = asyncio.new_event_loop()
    # A cloud without prices leaves the choice to others.
    assert loop.run_until_complete(price.best(options, context)) == []
    cloud.priced = True
    assert [chosen.group for chosen in loop.run_until_complete(price.best(options, context))] == ["small"]
    assert [price.preferred_cores(nodes) for nodes in (1, 3, 20, 1000)] == [1000, 2000, 4000, 32000]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("10: [small]\n20: [large]", {"large"}),
        ("10: [small, large]", {"small", "large"}),
        ("10: [all]\n5: [small]", {"small"}),  # a part of the name is enough, and "small" has one
        ("10: ['^all$']\n5: [small]", {"small"}),
        ("10: ['^[[:alpha:]]{5}$']\n5: ['.*']", {"small", "large"}),  # classes as Go has them
        ("10: ['(?i)LARGE']\n5: ['.*']", {"large"}),
        ("-1: [small]", {"small"}),
        ("-5: [small]", {"small", "large"}),  # below all that count: nothing is filtered
        ("0: [small]\n-1: [large]", {"small"}),
        ("7: [other]", {"small", "large"}),
        ("1: ['.*']\n2: ['.*e$']", {"large"}),  # the highest of several
    ],
)
def test_priorities(rules: str, expected: set[str]) -> None:
    options = [option("small", 2, 4), option("large", 1, 4)]
    context = Context(FakeCloud(), priorities={"metadata": {"name": "x"}, "data": {"priorities": rules}})
    best = asyncio.new_event_loop().run_until_complete(priority.best(options, context))
    assert {entry.group for entry in best} == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("a: [b]", "lists of texts by number"),
        ("10: b", "lists of texts by number"),
        ("10: ['(']", "Can't compile regexp rule for priority 10 and rule \\("),
        (
            "10: ['a(?=b)']",
            "Can't compile regexp rule for priority 10 and rule a.*: error parsing regexp",
        ),  # as in Go
        ("[", "Can't parse YAML"),
    ],
)
def test_bad_priorities_are_told(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        priority.parse(text)
    said: list[str] = []
    rules = {"metadata": {"name": "x"}, "data": {"priorities": text}}
    assert choose(
        "priority",
        [option("a", 1, 1), option("b", 1, 1)],
        priorities=rules,
        warn=lambda reason, text: said.append(reason),
    )
    assert said == ["PriorityConfigMapInvalid"]
