"""Which nodes are not needed, for clusters made of objects."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pybernetes.control_plane.autoscaler.cluster.cluster import Cluster
from pybernetes.control_plane.autoscaler.cluster.groups import GroupState
from pybernetes.control_plane.autoscaler.provider import GroupOptions, NodeGroup
from pybernetes.control_plane.autoscaler.scale_down.scale_down import (
    NO_PLACE,
    Planner,
    Removable,
    Rules,
    chosen,
)
from pybernetes.lib import rfc3339
from tests.control_plane.autoscaler.fakes import cluster_of, node, pod


def state(name: str = "g", *nodes: str, target: int = -1, minimum: int = 0, **options: Any) -> GroupState:
    made = GroupState(NodeGroup(name, minimum, 10), len(nodes) if target < 0 else target, nodes=list(nodes))
    made.options = GroupOptions(**options)
    return made


def removable(
    cluster: Cluster, group: GroupState | None = None, now: float = 1e9, rules: Rules | None = None
) -> tuple[dict[str, bool], dict[str, str]]:
    """Return the nodes that are not needed and whether they are empty, and why others are needed."""
    names = list(cluster.nodes)
    group = group or state("g", *names)
    planner = Planner(cluster, rules or Rules())
    plan = planner.update({group.id: group}, dict.fromkeys(names, group.id), (), now)
    return {entry.node: entry.empty for entry in plan.unneeded}, plan.unremovable


DISABLED = {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}


@pytest.mark.parametrize(
    ("nodes", "pods", "unneeded", "needed"),
    [
        ([node("a"), node("b")], [], {"a": True, "b": True}, {}),
        ([node("a"), node("b")], [pod("p", "a", cpu="500m"), pod("q", "b", cpu="1500m")], {"a": False}, {"b": "NotUnderutilized"}),
        ([node("a"), node("b")], [pod("p", "a", cpu="900m"), pod("q", "b", cpu="1900m")], {}, {"a": NO_PLACE, "b": "NotUnderutilized"}),
        ([node("a", annotations=DISABLED)], [], {}, {"a": "ScaleDownDisabledAnnotation"}),
        ([node("a")], [pod("p", "a", cpu="1100m", owner="apps/v1 DaemonSet d")], {}, {"a": "NotUnderutilized"}),
        ([node("a")], [pod("p", "a", cpu="100m", owner="apps/v1 DaemonSet d")], {"a": True}, {}),
        ([node("a"), node("b")], [pod("p", "a", cpu="100m", owner="")], {"b": True}, {"a": "NotReplicated"}),
        # Both have room for the other's pod, but not both can go.
        ([node("a"), node("b")], [pod("p", "a", cpu="100m"), pod("q", "b", cpu="100m")], {"a": False}, {"b": NO_PLACE}),
        # What is just as large as the threshold may go.
        ([node("a"), node("b")], [pod("p", "a", cpu="1"), pod("q", "b", cpu="1001m")], {}, {"a": NO_PLACE, "b": "NotUnderutilized"}),
        ([node("a"), node("b", cpu="4")], [pod("p", "a", cpu="1"), pod("q", "b", cpu="2500m")], {"a": False}, {}),
        ([node("a", cpu="0"), node("b")], [], {"b": True}, {"a": "UnexpectedError"}),
        # A node that does not answer is not removed for that alone, but its pods that should be gone do not keep it.
        ([node("a", ready=False), node("b")], [pod("p", "a", cpu="1900m"), pod("q", "b", cpu="0")], {}, {"a": "NotUnderutilized"}),
        ([node("a", ready=False), node("b")], [pod("p", "a", cpu="1900m", deleted="2001-01-01T00:00:00Z")], {"a": True}, {}),
    ],
)  # fmt: skip
def test_nodes_that_are_not_needed(
    nodes: Any, pods: Any, unneeded: dict[str, bool], needed: dict[str, str]
) -> None:
    daemons = {"metadata": {"name": "d", "namespace": "default"}}
    cluster = cluster_of(nodes, pods, daemonsets=[daemons])
    before = cluster.snapshot.requested.copy()
    removed, why = removable(cluster)
    assert {name: removed.get(name) for name in unneeded} == unneeded
    assert {name: why.get(name) for name in needed} == needed
    assert (cluster.snapshot.requested[:, : before.shape[1]] == before).all()


def test_budgets_keep_nodes() -> None:
    budget = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
    }
    nodes = [node("a"), node("b"), node("c", cpu="8")]
    pods = [
        pod("p", "a", cpu="100m"),
        pod("q", "b", cpu="100m"),
        pod("r", "c", cpu="6", labels={"app": "other"}),
    ]
    removed, why = removable(cluster_of(nodes, pods, poddisruptionbudgets=[budget]))
    assert len(removed) == 1
    assert "NotEnoughPdb" in why.values()


@pytest.mark.parametrize(
    ("owner", "present", "annotation", "why"),
    [
        ("batch/v1 Job j", {}, "", {"a": "ControllerNotFound"}),
        ("batch/v1 Job j", {"jobs": "j"}, "", {}),
        ("apps/v1 StatefulSet s", {}, "", {"a": "ControllerNotFound"}),
        ("apps/v1 StatefulSet s", {"statefulsets": "s"}, "", {}),
        ("apps/v1 DaemonSet other", {}, "", {"a": "ControllerNotFound"}),
        ("batch.example.com/v1 Job j", {}, "", {"a": "ControllerNotFound"}),
        ("apps.example.com/v1 StatefulSet s", {}, "", {}),  # nobody can tell
        ("example.com/v1 Thing x", {}, "true", {}),  # it says that it is a daemon set's
    ],
)
def test_pods_whose_controller_is_gone_keep_their_node(
    owner: str, present: dict[str, str], annotation: str, why: dict[str, str]
) -> None:
    objects = {kind: [{"metadata": {"name": name, "namespace": "default"}}] for kind, name in present.items()}
    annotations = {"cluster-autoscaler.kubernetes.io/daemonset-pod": annotation}
    pods = [
        pod("p", "a", cpu="100m", owner=owner, annotations=annotations),
        pod("q", "b", cpu="1900m"),
    ]
    nodes = [node("a"), node("b", cpu="4")]
    reasons = removable(cluster_of(nodes, pods, **objects))[1]
    assert {name: reason for name, reason in reasons.items() if name == "a"} == why


def test_a_node_waits_for_pods_that_end_by_themselves() -> None:
    until_it_ends = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}
    cluster = cluster_of([node("a")], [pod("p", "a", cpu="100m", owner="", annotations=until_it_ends)])
    group = state("g", "a", unneeded_seconds=10)
    planner = Planner(cluster, Rules())
    plan = planner.update({"g": group}, {"a": "g"}, (), 100.0)
    assert [entry.node for entry in plan.unneeded] == ["a"] and plan.unneeded[0].empty
    planner.update({"g": group}, {"a": "g"}, (), 111.0)
    assert planner.due({"g": group}, Counter(), 111.0)[0] == []
    assert planner.plan.unremovable == {"a": "BlockedByOnCompletionPod"}
    cluster.set_pod("default/p", None)
    planner.update({"g": group}, {"a": "g"}, (), 112.0)
    assert [entry.node for entry in planner.due({"g": group}, Counter(), 112.0)[0]] == ["a"]


def test_a_node_that_others_pods_will_need_stays() -> None:
    """What was to move there before does not lose its place because the node has become empty meanwhile."""
    cluster = cluster_of([node("a"), node("b")], [pod("p", "a", cpu="500m"), pod("q", "b", cpu="1500m")])
    group, planner = state("g", "a", "b"), Planner(cluster, Rules())
    plan = planner.update({"g": group}, dict.fromkeys("ab", "g"), (), 100.0)
    assert [entry.node for entry in plan.unneeded] == ["a"]
    cluster.set_pod("default/q", None)
    plan = planner.update({"g": group}, dict.fromkeys("ab", "g"), (), 110.0)
    assert ([entry.node for entry in plan.unneeded], plan.unremovable) == (["a"], {"b": NO_PLACE})
    # With room on a third one both may go.
    cluster.set_node("c", cluster.read_node(node("c")))
    cluster.set_pod("default/r", cluster.read_pod(pod("r", "c", cpu="1200m")))
    group, planner = state("g", "a", "b", "c"), Planner(cluster, Rules())
    planner.since["a"] = 0.0
    plan = planner.update({"g": group}, dict.fromkeys("abc", "g"), (), 120.0)
    assert sorted(entry.node for entry in plan.unneeded) == ["a", "b"]
    assert [record.pod.name for entry in plan.unneeded for record in entry.moves] == ["p"]


@pytest.mark.parametrize(
    ("more", "needed"),
    [
        ({}, True),
        ({"deleted": "2026-01-01T00:00:00Z"}, False),  # another pod is in its place
        (
            {"deleted": "2026-01-01T00:00:00Z", "owner": "apps/v1 StatefulSet s"},
            True,
        ),  # it comes only afterwards
        ({"owner": "apps/v1 DaemonSet d"}, False),
        ({"annotations": {"kubernetes.io/config.mirror": "x"}}, False),
    ],
)
def test_pods_of_nodes_that_go_need_room_elsewhere(more: dict[str, Any], needed: bool) -> None:
    made = pod("p", "a", cpu="500m", terminationGracePeriodSeconds=600, **more)
    cluster = cluster_of([node("a"), node("b")], [made])
    planner, now = Planner(cluster, Rules()), rfc3339.parse("2026-01-01T00:05:00Z")
    before = cluster.snapshot.requested.copy()
    plan = planner.update({"g": state("g", "a", "b")}, dict.fromkeys("ab", "g"), ("a",), now)
    assert [entry.node for entry in plan.unneeded] == ([] if needed else ["b"])
    assert (cluster.snapshot.requested[:, : before.shape[1]] == before).all()


def test_a_group_at_its_minimum_keeps_its_nodes() -> None:
    assert removable(cluster_of([node("a")]), state("g", "a", minimum=1)) == (
        {},
        {"a": "NodeGroupMinSizeReached"},
    )


def test_a_node_goes_only_after_its_time_and_down_to_the_minimum() -> None:
    cluster = cluster_of([node("a"), node("b"), node("c", ready=False)])
    group = state("g", "a", "b", "c", minimum=1, unneeded_seconds=10, unready_seconds=20)
    planner = Planner(cluster, Rules())
    for now, expected in ((100.0, []), (109.0, []), (111.0, ["a", "b"]), (121.0, ["a", "b"])):
        planner.update({"g": group}, dict.fromkeys("abc", "g"), (), now)
        due, next_time = planner.due({"g": group}, Counter(), now)
        assert [entry.node for entry in due] == expected
        assert planner.plan.unremovable == {
            name: reason
            for name, reason in (("a", "NotUnneededLongEnough"), ("b", "NotUnneededLongEnough"),
                                 ("c", "NotUnreadyLongEnough" if now < 120 else "NodeGroupMinSizeReached"))
            if name not in expected
        }  # fmt: skip
        assert next_time == {100.0: 110.0, 109.0: 110.0, 111.0: 120.0}.get(now, float("inf"))
    assert [entry.node for entry in planner.due({"g": group}, Counter({"g": 1}), 121.0)[0]] == ["a"]
    # One that is needed in between begins anew.
    cluster.set_pod("default/p", cluster.read_pod(pod("p", "a", cpu="1900m")))
    planner.update({"g": group}, dict.fromkeys("abc", "g"), (), 122.0)
    cluster.set_pod("default/p", None)
    planner.update({"g": group}, dict.fromkeys("abc", "g"), (), 123.0)
    assert "a" not in [entry.node for entry in planner.due({"g": group}, Counter(), 124.0)[0]]


def test_empty_nodes_go_in_bulk_and_others_one_at_a_time() -> None:
    record = cluster_of().read_pod(pod("p", "n"))
    nodes = [Removable(f"e{number}", "g", (), 0.0) for number in range(4)]
    full = [Removable(f"f{number}", "g", (record,), 0.1) for number in range(3)]
    assert [entry.node for entry in chosen([*full, *nodes], 0, 0, 10, 1)] == ["e0", "e1", "e2", "e3", "f0"]
    assert [entry.node for entry in chosen([*full, *nodes], 7, 1, 10, 1)] == ["e0", "e1", "e2"]
    assert chosen(nodes, 10, 0, 10, 1) == []


@pytest.mark.parametrize(
    ("rules", "going", "expected"),
    [
        (Rules(), (), ["a", "b", "c"]),
        (Rules(least_cores=3000), (), ["a"]),  # of 6 cores
        (Rules(least_memory=5 << 30), (), ["a"]),  # of 12 Gi
        (Rules(least_cores=3000), ("c",), []),  # one is on its way already
    ],
)
def test_a_cluster_keeps_its_least_resources(
    rules: Rules, going: tuple[str, ...], expected: list[str]
) -> None:
    group = state("g", "a", "b", "c", unneeded_seconds=0)
    planner = Planner(cluster_of([node("a"), node("b"), node("c")]), rules)
    planner.update({"g": group}, dict.fromkeys("abc", "g"), going, 100.0)
    assert [entry.node for entry in planner.due({"g": group}, Counter(), 101.0)[0]] == expected
    if rules.least_cores:
        assert "MinimalResourceLimitExceeded" in planner.plan.unremovable.values()


@pytest.mark.parametrize(
    ("rules", "looked_at"),
    [
        (Rules(), 3),
        (Rules(non_empty_candidates=2), 2),
        (Rules(pool_ratio=0.3, pool_least=1), 1),  # of 4 nodes
        (Rules(pool_ratio=0.0, pool_least=0), 0),
        (Rules(simulation_seconds=-1.0), 0),
    ],
)
def test_how_many_nodes_with_pods_a_pass_looks_at(rules: Rules, looked_at: int) -> None:
    pods = [pod(f"p{name}", name, cpu="100m") for name in "abc"]
    cluster = cluster_of([*map(node, "abc"), node("z", cpu="32")], [*pods, pod("full", "z", cpu="30")])
    removed, why = removable(cluster, rules=rules)
    assert (len(removed), list(why.values()).count("NotTested")) == (looked_at, 3 - looked_at)
