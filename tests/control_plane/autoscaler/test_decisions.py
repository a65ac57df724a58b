"""The pure decisions: binpacking, balancing, expanders, back-off, rules for draining, use of nodes."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.autoscaler import bin_packing, drain_rules, expander
from pybernetes.control_plane.autoscaler.backoff import Backoffs
from pybernetes.control_plane.autoscaler.balancing import Ratios, ScaleUp, balance, similar
from pybernetes.control_plane.autoscaler.bin_packing import Item
from pybernetes.control_plane.autoscaler.estimator import Option
from pybernetes.control_plane.autoscaler.expander import Context
from pybernetes.control_plane.autoscaler.expanders import least_waste, price, priority
from pybernetes.control_plane.autoscaler.node_templates import Template, from_object
from pybernetes.control_plane.autoscaler.utilization import utilization
from pybernetes.lib import rfc3339
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup, cluster_of, node, pod


@pytest.mark.parametrize(
    ("free", "slots", "items", "limit", "nodes", "placed"),
    [
        ({0: 2000}, 10, [Item(((0, 1000),), 4)], 10, 2, [4]),
        (
            {0: 2000},
            10,
            [Item(((0, 1500),), 2), Item(((0, 500),), 2)],
            10,
            2,
            [2, 2],
        ),  # small ones fill the gaps
        ({0: 2000}, 10, [Item(((0, 1500),), 1), Item(((0, 500),), 3)], 10, 2, [1, 3]),
        ({0: 2000}, 10, [Item(((0, 1000),), 9)], 3, 3, [6]),  # no more nodes than there may be
        ({0: 2000}, 10, [Item(((0, 3000),), 1)], 10, 0, [0]),  # too large for any
        ({0: 2000}, 1, [Item((), 3)], 10, 3, [3]),  # only so many pods on a node
        ({0: 2000, 1: 10}, 9, [Item(((0, 100), (1, 6)), 2)], 10, 2, [2]),
        ({0: 2000}, 9, [Item(((5, 1),), 1)], 10, 0, [0]),  # a resource that it does not have
    ],
)
def test_packing(free: Any, slots: int, items: Any, limit: int, nodes: int, placed: list[int]) -> None:
    assert bin_packing.pack(free, slots, items, limit) == (nodes, placed)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 30)), max_size=6), st.integers(1, 40))
def test_packing_is_first_fit(shapes: list[tuple[int, int]], limit: int) -> None:
    """Whole classes of nodes at once come out as one pod after the other does."""
    shapes = sorted(shapes, reverse=True)
    bins: list[int] = []
    expected = []
    for amount, count in shapes:
        done = 0
        for _ in range(count):
            place = next((number for number, free in enumerate(bins) if free >= amount), None)
            if place is None and len(bins) < limit and amount <= 10:
                bins.append(10)
                place = len(bins) - 1
            if place is None:
                break
            bins[place] -= amount
            done += 1
        expected.append(done)
    result = bin_packing.pack({0: 10}, 99, [Item(((0, amount),), count) for amount, count in shapes], limit)
    assert (result.nodes, sum(result.placed)) == (len(bins), sum(expected))


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ([("a", 1, 9), ("b", 1, 9)], 4, {"a": 3, "b": 3}),
        ([("a", 5, 9), ("b", 1, 9)], 3, {"b": 4}),
        ([("a", 1, 2), ("b", 1, 9)], 4, {"a": 2, "b": 4}),
        ([("a", 1, 2), ("b", 1, 2)], 9, {"a": 2, "b": 2}),
        ([("a", 2, 2)], 1, {}),
    ],
)
def test_balance(sizes: list[tuple[str, int, int]], count: int, expected: dict[str, int]) -> None:
    groups = [ScaleUp(name, current, current, maximum) for name, current, maximum in sizes]
    assert {group.group: group.new for group in balance(groups, count)} == expected


def template(group: str, **more: Any) -> Template:
    daemons = more.pop("daemons", ())
    cluster = cluster_of()
    node_of_it, capacity = from_object(cluster, node(group, **more), group)
    asked = tuple(cluster.read_pod(pod(f"d{number}", cpu=cpu)).pod for number, cpu in enumerate(daemons))
    return Template(group, node_of_it, asked, capacity)


@pytest.mark.parametrize(
    ("other", "only", "expected"),
    [
        ({}, (), True),
        ({"labels": {"topology.kubernetes.io/zone": "b"}}, (), True),
        ({"labels": {"disk": "ssd"}}, (), False),
        ({"cpu": "4"}, (), False),
        ({"memory": "4100Mi"}, (), True),
        ({"memory": "5Gi"}, (), False),
        # Machines have as many cores and take as many pods as the others, and almost as much memory.
        ({"memory": "4155Mi"}, (), True),
        ({"memory": "4170Mi"}, (), False),
        ({"cpu": "2050m"}, (), False),
        ({"pods": "109"}, (), False),
        # What is left for pods may differ by a twentieth, of the larger.
        ({"left": {"cpu": "1900m"}}, (), True),
        ({"left": {"cpu": "1899m"}}, (), False),
        ({"left": {"pods": "105"}}, (), True),
        ({"left": {"pods": "104"}}, (), False),
        ({"left": {"example.com/card": "1"}}, (), False),
        ({"daemons": ("100m",)}, (), True),
        ({"daemons": ("101m",)}, (), False),
        (
            {"labels": {"beta.kubernetes.io/fluentd-ds-ready": "true", "kops.k8s.io/instancegroup": "x"}},
            (),
            True,
        ),
        ({"cpu": "64", "labels": {"disk": "hdd"}}, ("disk",), False),
    ],
)
def test_similar_groups(other: dict[str, Any], only: tuple[str, ...], expected: bool) -> None:
    assert similar(template("a"), template("b", **other), Ratios(), (), only) is expected


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


def test_backoff_grows_and_is_forgotten() -> None:
    backoffs = Backoffs(300, 1800, 10800)
    assert backoffs.of("g", 0) is None
    assert backoffs.fail("g", "c", "m", 0).until == 300
    assert backoffs.fail("g", "c", "m", 100).until == 400  # the same failure
    assert backoffs.of("g", 500) is None
    assert [backoffs.fail("g", "c", "m", moment).seconds for moment in (500, 1200, 2500, 5000)] == [
        600,
        1200,
        1800,
        1800,
    ]
    assert backoffs.fail("g", "c", "m", 5000 + 10801).seconds == 300
    backoffs.succeed("g")
    assert backoffs.fail("g", "c", "m", 20000).seconds == 300


YOUNG = 10.0
SAFE = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
DELETED = "2026-01-01T00:00:00Z"
AFTER = rfc3339.parse(DELETED)


@pytest.mark.parametrize(
    ("changes", "options", "more", "expected"),
    [
        ({}, {}, {}, "moves"),
        ({"owner": ""}, {}, {}, drain_rules.NOT_REPLICATED),
        ({"owner": "example.com/v1 Thing x"}, {}, {}, drain_rules.NOT_REPLICATED),
        ({"owner": "example.com/v1 Thing x"}, {"skips_custom_controllers": False}, {}, "moves"),
        ({"owner": "apps/v1 DaemonSet x"}, {}, {}, "stays"),
        ({"owner": "apps/v1 DaemonSet x"}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({"owner": "batch/v1 Job x"}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({"owner": "batch/v1 Job x"}, {"minimum_replicas": 4}, {"replicas": 1}, "moves"),
        ({"owner": "batch/v1 Job x"}, {"skips_custom_controllers": False}, {"replicas": None}, "moves"),
        ({"owner": "", "annotations": {"kubernetes.io/config.mirror": "x"}}, {}, {}, "stays"),
        (
            {"owner": "", "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}},
            {},
            {},
            "moves",
        ),
        (
            {"owner": "", "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}},
            {},
            {},
            "waits",
        ),
        (
            {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
            {},
            {},
            drain_rules.NOT_SAFE,
        ),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, {}, {}, drain_rules.LOCAL_STORAGE),
        ({"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]}, {}, {}, "moves"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/x"}}]}, {}, {}, drain_rules.LOCAL_STORAGE),
        ({"volumes": [{"name": "v", "emptyDir": {}}]}, {"skips_local_storage": False}, {}, "moves"),
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}],
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "v"},
            },
            {},
            {},
            "moves",
        ),
        ({"namespace": "kube-system"}, {}, {}, drain_rules.SYSTEM_POD),
        ({"namespace": "kube-system"}, {}, {"has_budget": True}, "moves"),
        ({"namespace": "kube-system"}, {}, {"age": 3601.0}, "moves"),
        ({"namespace": "kube-system"}, {"skips_system": False}, {}, "moves"),
        ({}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({}, {"minimum_replicas": 4}, {"replicas": 3}, drain_rules.MIN_REPLICAS),
        ({"deleted": DELETED}, {}, {"now": AFTER + 31.0}, "stays"),
        ({"deleted": DELETED}, {}, {"now": AFTER + 30.0}, "moves"),
        ({"deleted": DELETED, "terminationGracePeriodSeconds": 60}, {}, {"now": AFTER + 31.0}, "moves"),
        ({"deleted": DELETED, "terminationGracePeriodSeconds": 60}, {}, {"now": AFTER + 91.0}, "stays"),
        # Kinds count, of whatever group; what is not ours cannot be looked for.
        ({"owner": "apps.example.com/v1 StatefulSet x"}, {}, {"replicas": 0}, "moves"),
        ({"owner": "apps.example.com/v1 DaemonSet x"}, {}, {"replicas": 0}, "stays"),
        ({"owner": "example.com/v1 Job x"}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        # What ends by itself may still be safe to evict; an older rule comes first.
        ({"annotations": SAFE}, {}, {"replicas": None}, drain_rules.CONTROLLER_NOT_FOUND),
        ({"namespace": "kube-system", "annotations": SAFE}, {}, {}, "moves"),
        ({"volumes": [{"name": "v", "emptyDir": {}}], "annotations": SAFE}, {}, {}, "moves"),
        # Names of volumes are taken as they are.
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}],
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "v,w"},
            },
            {},
            {},
            "moves",
        ),
        (
            {
                "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "hostPath": {"path": "/"}}],
                "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "v, w"},
            },
            {},
            {},
            drain_rules.LOCAL_STORAGE,
        ),
    ],
)
def test_which_pods_keep_their_node(changes: Any, options: Any, more: Any, expected: str) -> None:
    record = cluster_of().read_pod(pod("p", "n", **changes))
    known = {"replicas": 3, "has_budget": False, "age": YOUNG, "now": AFTER, **more}
    verdict = drain_rules.verdict(record, drain_rules.Options(**options), **known)
    outcome = "moves" if verdict.moves else "waits" if verdict.waits else "stays"
    assert (verdict.blocks or outcome) == expected


def test_use_is_the_larger_share() -> None:
    cluster = cluster_of(
        [node("n", cpu="4", memory="4Gi")], [pod("a", "n", cpu="1"), pod("b", "n", cpu="0", memory="2Gi")]
    )
    assert utilization(cluster.nodes["n"], cluster.pods_on("n")) == 0.5
    daemon = cluster_of(
        [node("n", cpu="4")], [pod("a", "n", cpu="2", owner="apps/v1 DaemonSet d"), pod("b", "n", cpu="1")]
    )
    assert utilization(daemon.nodes["n"], daemon.pods_on("n")) == 0.75
    assert utilization(daemon.nodes["n"], daemon.pods_on("n"), ignores_daemons=True) == 0.5


@pytest.mark.parametrize(
    ("pods", "options", "expected"),
    [
        ([pod("a", "n", cpu="1"), pod("b", "n", cpu="1", deleted=DELETED)], {"now": AFTER + 20}, 0.5),
        # What should be gone by now counts for nothing.
        ([pod("a", "n", cpu="1"), pod("b", "n", cpu="1", deleted=DELETED)], {"now": AFTER + 31}, 0.25),
        ([pod("a", "n", cpu="1", annotations={"kubernetes.io/config.mirror": "x"}), pod("b", "n", cpu="1")], {}, 0.5),
        ([pod("a", "n", cpu="1", annotations={"kubernetes.io/config.mirror": "x"}), pod("b", "n", cpu="1")],
         {"ignores_mirrors": True}, 1 / 3),
        ([pod("a", "n", cpu="1", owner="apps.example.com/v1 DaemonSet d"), pod("b", "n", cpu="1")],
         {"ignores_daemons": True}, 1 / 3),
    ],
)  # fmt: skip
def test_which_pods_use_a_node(pods: Any, options: Any, expected: float) -> None:
    cluster = cluster_of([node("n", cpu="4")], pods)
    assert utilization(cluster.nodes["n"], cluster.pods_on("n"), **options) == pytest.approx(expected)


def test_the_use_of_a_node_that_says_nothing_is_not_known() -> None:
    cluster = cluster_of([node("n", cpu="0")], [])
    assert utilization(cluster.nodes["n"], []) is None
