"""What is added and what is removed, for clusters made of objects."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pybernetes.control_plane.autoscaler import estimator, node_templates, scale_up
from pybernetes.control_plane.autoscaler.cluster import Cluster, Schedulers
from pybernetes.control_plane.autoscaler.groups import Groups, GroupState
from pybernetes.control_plane.autoscaler.provider import GroupOptions, NodeGroup, NodeReference
from pybernetes.control_plane.autoscaler.scale_down import NO_PLACE, Planner, Removable, Rules, chosen
from pybernetes.control_plane.autoscaler.scale_up import Candidate, Findings, Limits, Size
from pybernetes.control_plane.autoscaler.taint_rules import TaintRules
from pybernetes.lib import rfc3339
from tests.control_plane.autoscaler.fakes import FakeCloud, FakeGroup, cluster_of, node, pod

ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
DAEMON = {
    "metadata": {"name": "agent", "namespace": "default", "uid": "d"},
    "spec": {
        "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}]}}
    },
}


def find(
    cluster: Cluster, sizes: Size | None = None, limits: Limits | None = None, **groups: dict[str, Any]
) -> Findings:
    """Return how groups could help the pods of a cluster that have no room."""
    candidates = []
    for name, fields in groups.items():
        more = dict(fields)
        maximum, target, skipped = (
            more.pop(key, default) for key, default in (("maximum", 10), ("target", 0), ("skipped", ""))
        )
        made = node_templates.from_object(cluster, node(name, group=name, **more), name)
        template = node_templates.template(cluster, name, made, cluster.listers.all("daemonsets"))
        candidates.append(Candidate(NodeGroup(name, 0, maximum), target, template, skipped))
    pending = estimator.equivalence_groups(record.pod for record in cluster.pending.values())
    return scale_up.find(cluster, pending, candidates, sizes or Size(0, 0, 0), limits or Limits())


def sizes(findings: Findings) -> dict[str, tuple[int, int]]:
    return {option.group: (option.nodes, len(option.pods)) for option in findings.options}


@pytest.mark.parametrize(
    ("pods", "groups", "expected"),
    [
        ([pod(f"p{number}") for number in range(5)], {"a": {}}, {"a": (3, 5)}),
        ([pod("p", cpu="3")], {"a": {}, "b": {"cpu": "4"}}, {"b": (1, 1)}),
        ([pod("p", nodeSelector={"disk": "ssd"})], {"a": {}, "b": {"labels": {"disk": "ssd"}}}, {"b": (1, 1)}),
        ([pod("p")], {"a": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}, {}),
        ([pod("p")], {"a": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}}, {"a": (1, 1)}),
        (
            [pod("p", tolerations=[{"key": "k", "operator": "Exists"}])],
            {"a": {"taints": [{"key": "k", "effect": "NoSchedule"}]}},
            {"a": (1, 1)},
        ),
        ([pod(f"p{number}", cpu="100m", affinity=ANTI) for number in range(3)], {"a": {}}, {"a": (3, 3)}),
        ([pod(f"p{number}") for number in range(9)], {"a": {"maximum": 2}}, {"a": (2, 4)}),
    ],
)  # fmt: skip
def test_groups_that_help(pods: Any, groups: Any, expected: dict[str, tuple[int, int]]) -> None:
    cluster = cluster_of(pods=pods)
    before = cluster.snapshot.node_count
    assert sizes(find(cluster, **groups)) == expected
    assert (cluster.snapshot.node_count, sum(map(len, cluster.snapshot.pods))) == (before, 0)


def test_pods_of_daemon_sets_take_their_share() -> None:
    cluster = cluster_of(pods=[pod(f"p{number}") for number in range(2)], daemonsets=[DAEMON])
    assert sizes(find(cluster, a={})) == {"a": (2, 2)}


@pytest.mark.parametrize(
    ("group", "size", "limits", "reason"),
    [
        ({"target": 10}, Size(10, 0, 0), Limits(), "max node group size reached"),
        ({"skipped": scale_up.BACKOFF}, Size(0, 0, 0), Limits(), "in backoff after failed scale-up"),
        ({}, Size(3, 0, 0), Limits(nodes=3), "max total nodes in cluster reached"),
        ({}, Size(1, 3000, 0), Limits(cores=4), 'exceeded quota: "cluster-wide", resources: cpu'),
        ({"cpu": "500m"}, Size(0, 0, 0), Limits(), "Insufficient cpu"),
        ({"labels": {"x": "y"}, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}, Size(0, 0, 0), Limits(),
         "node(s) had untolerated taint(s)"),
    ],
)  # fmt: skip
def test_why_groups_do_not_help(group: Any, size: Size, limits: Limits, reason: str) -> None:
    findings = find(cluster_of(pods=[pod("p")]), size, limits, a=group)
    assert findings.options == []
    assert list(findings.refusals[0][1]) == [reason]
    text = scale_up.message(findings.refusals[0][1])
    assert text == (reason if reason == scale_up.MAX_NODES_TOTAL else f"1 {reason}")


@pytest.mark.parametrize(
    ("conditions", "taints", "ready"),
    [
        ({"Ready": "True"}, [], True),
        ({"Ready": "False"}, [], False),
        ({"Ready": "Unknown"}, [], False),
        ({}, [], False),
        ({"Ready": "True", "DiskPressure": "True"}, [], False),
        ({"Ready": "True", "NetworkUnavailable": "True"}, [], False),
        ({"Ready": "True", "NetworkUnavailable": "False"}, [], True),
        ({"Ready": "True", "MemoryPressure": "True", "PIDPressure": "True"}, [], True),
        ({"Ready": "True"}, ["node.kubernetes.io/not-ready"], False),
        ({"Ready": "True"}, ["node.kubernetes.io/disk-pressure"], False),
        ({"Ready": "True"}, ["node.kubernetes.io/network-unavailable"], False),
        ({"Ready": "True"}, ["node.cloudprovider.kubernetes.io/uninitialized"], False),
        ({"Ready": "True"}, ["node.kubernetes.io/memory-pressure"], True),
        ({"Ready": "True"}, ["startup-taint.cluster-autoscaler.kubernetes.io/x"], False),
        ({"Ready": "True"}, ["ignore-taint.cluster-autoscaler.kubernetes.io/x"], False),
        ({"Ready": "True"}, ["status-taint.cluster-autoscaler.kubernetes.io/x"], True),
        ({"Ready": "True"}, ["example.com/starts"], False),
        ({"Ready": "True"}, ["example.com/says"], True),
        ({"Ready": "True"}, ["prefix.example.com/x"], False),
        ({"Ready": "True"}, ["example.com/other"], True),
    ],
)
def test_nodes_that_take_pods(conditions: dict[str, str], taints: list[str], ready: bool) -> None:
    rules = TaintRules(
        frozenset({"example.com/starts"}), ("prefix.example.com/",), frozenset({"example.com/says"})
    )
    obj = node("n", taints=[{"key": key, "effect": "NoSchedule"} for key in taints])
    obj["status"]["conditions"] = [{"type": kind, "status": status} for kind, status in conditions.items()]
    made = Cluster(taints=rules).read_node(obj)
    assert made.ready is ready
    # What says nothing about later nodes is on none of them.
    lasting = [taint.key for taint in node_templates.from_node(made, "g", rules)[0].taints]
    assert lasting == (["example.com/other"] if taints == ["example.com/other"] else [])


def test_what_taints_are_counted_as() -> None:
    rules = TaintRules(frozenset({"starts"}), ("prefix/",), frozenset({"says"}))
    kinds = {
        "starts": "startup-taint", "prefix/x": "startup-taint", "says": "status-taint", "anything": "other",
        "startup-taint.cluster-autoscaler.kubernetes.io/x": "startup-taint",
        "status-taint.cluster-autoscaler.kubernetes.io/x": "status-taint",
        "ignore-taint.cluster-autoscaler.kubernetes.io/x": "ignore-taint.cluster-autoscaler.kubernetes.io/",
        "node.kubernetes.io/not-ready": "node.kubernetes.io/not-ready",
        "ToBeDeletedByClusterAutoscaler": "ToBeDeletedByClusterAutoscaler",
    }  # fmt: skip
    assert {key: rules.kind(key) for key in kinds} == kinds


@pytest.mark.parametrize(
    ("schedulers", "expected"),
    [
        (Schedulers(), {"tried", "other"}),
        (Schedulers(allowed=frozenset({"mine"})), {"other"}),
        (Schedulers(bypassed=frozenset({"default-scheduler"})), {"tried", "other", "untried"}),
        (Schedulers(frozenset({"mine"}), frozenset({"mine"})), {"other", "other-untried"}),
    ],
)
def test_whose_pods_matter(schedulers: Schedulers, expected: set[str]) -> None:
    cluster = Cluster(schedulers=schedulers)
    pods = [
        pod("tried"), pod("untried"), pod("other", schedulerName="mine"), pod("other-untried", schedulerName="mine"),
        pod("agent", owner="apps/v1 DaemonSet d"), pod("gated"), pod("gone", deleted="2026-01-01T00:00:00Z"), pod("bound", "n"),
    ]  # fmt: skip
    for name, status in (("untried", {}), ("other-untried", {}), ("gated", {"reason": "SchedulingGated"})):
        made = next(entry for entry in pods if entry["metadata"]["name"] == name)
        condition = {"type": "PodScheduled", "status": "False", **status}
        made["status"] = {"phase": "Pending", "conditions": [condition] if status else []}
    for made in pods:
        cluster.set_pod(f"default/{made['metadata']['name']}", cluster.read_pod(made))
    assert {key.partition("/")[2] for key in cluster.pending} == expected


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
    found, why = removable(cluster)
    assert {name: found.get(name) for name in unneeded} == unneeded
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
    found, why = removable(cluster_of(nodes, pods, poddisruptionbudgets=[budget]))
    assert len(found) == 1
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
    found = removable(cluster_of(nodes, pods, **objects))[1]
    assert {name: reason for name, reason in found.items() if name == "a"} == why


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
    found, why = removable(cluster, rules=rules)
    assert (len(found), list(why.values()).count("NotTested")) == (looked_at, 3 - looked_at)


def test_without_time_no_group_is_thought_about() -> None:
    cluster = cluster_of([], [pod("p")])
    made = node_templates.from_object(cluster, node("g", group="g"), "g")
    candidate = Candidate(NodeGroup("g", 0, 9), 0, node_templates.template(cluster, "g", made, ()))
    pending = estimator.equivalence_groups(record.pod for record in cluster.pending.values())
    for seconds, helps in ((10.0, 1), (0.0, 0)):
        found = scale_up.find(cluster, pending, [candidate], Size(0, 0, 0), Limits(), 10.0, seconds)
        assert len(found.options) == helps


async def test_nodes_may_come_and_go_while_the_cloud_is_asked() -> None:
    cluster = cluster_of([node("a", group="g"), node("b", group="g")])

    new = cluster.read_node(node("c", group="g"))

    class Busy(FakeCloud):
        async def group_of(self, node: NodeReference) -> str:
            cluster.set_node("a", None)
            cluster.set_node("c", new)
            return await super().group_of(node)

    groups = Groups(Busy(g=FakeGroup(0, 3, 2)), GroupOptions())
    await groups.refresh(cluster.nodes, 0.0)
    assert groups.states["g"].nodes == ["a", "b"] and set(groups.nodes) == {"a", "b"}
