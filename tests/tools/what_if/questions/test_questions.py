"""Every question, with small clusters whose answer is plain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.tools.what_if.cluster import Cluster, QuestionError
from tests.scheduling.builders import node, pod
from tests.tools.what_if.clusters import (
    QUESTIONS,
    ZONE,
    ask,
    budget,
    cluster,
    deployment,
    pending,
    running,
    where,
)


def test_the_questions() -> None:
    assert sorted(QUESTIONS) == ["add", "drain", "fit", "lose", "rebalance", "scale", "schedule"]


# -- schedule ---------------------------------------------------------------------------------------------


def daemon_set(name: str = "agent", **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": name}}, "spec": {**pod("x", "1")["spec"], **spec}}
    return {
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template},
    }  # fmt: skip


def test_every_kind_makes_its_pods(tmp_path: Path) -> None:
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {**pod("x", "100m")["spec"], "restartPolicy": "Never"},
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
           "spec": {"parallelism": 5, "completions": 2, "template": template}}  # fmt: skip
    stateful = {**deployment("db", 2, "100m"), "kind": "StatefulSet"}
    stateful["spec"]["serviceName"] = "db"
    objects = [
        deployment("web", 2, "100m"), stateful, job, daemon_set(), {"apiVersion": "v1", "kind": "Pod", **pod("single")},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ignored"}},
    ]  # fmt: skip
    world = cluster([node("n0"), node("n1", taints=[{"key": "k", "effect": "NoSchedule"}])])
    answer = ask(world, "schedule", file=tmp_path / "f", objects=objects)
    names = ["web-what-if-0", "web-what-if-1", "db-0", "db-1", "job-0", "job-1", "agent-n0", "single"]
    assert where(answer) == dict.fromkeys(names, "n0")
    assert answer.notes == ["ConfigMap ignored: has no say in where pods go"]
    assert len(answer.explained) == 4


def test_a_count_and_what_stays_pending(tmp_path: Path) -> None:
    answer = ask(
        cluster([node("n0")]), "schedule", "--count=6", file=tmp_path / "f", objects=[deployment("web", 1)]
    )
    assert len(answer.placed) == 4 and len(answer.pending) == 2
    assert answer.pending[0].message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert answer.as_json()["nodes"]["n0"]["after"]["cpu"] == "4000m"


def test_priority_classes_limit_ranges_and_runtime_classes_count(tmp_path: Path) -> None:
    lists: dict[str, Any] = {
        "priorityclasses": [{"metadata": {"name": "high"}, "value": 7}],
        "limitranges": [
            {"metadata": {"name": "l", "namespace": "default"},
             "spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": "3Gi"}}]}}
        ],
        "runtimeclasses": [
            {"metadata": {"name": "vm"}, "handler": "vm", "overhead": {"podFixed": {"memory": "2Gi"}}}
        ],
    }  # fmt: skip
    objects = [deployment("web", 2, priorityClassName="high", runtimeClassName="vm")]
    answer = ask(cluster([node("n0")], None, **lists), "schedule", file=tmp_path / "f", objects=objects)
    assert [placement.pod.priority for placement in answer.placements] == [7, 7]
    assert len(answer.placed) == 1 and "Insufficient memory" in answer.pending[0].message


def test_claims_of_stateful_sets_are_made_and_bound(tmp_path: Path) -> None:
    stateful = {**deployment("db", 2), "kind": "StatefulSet"}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    stateful["spec"] |= {
        "serviceName": "db",
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    class_ = {
        "metadata": {"name": "local", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer",
    }  # fmt: skip
    field = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}
    volume = {
        "metadata": {"name": "v", "resourceVersion": "1"}, "status": {"phase": "Available"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                 "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [field]}]}}},
    }  # fmt: skip
    world = cluster([node("n0"), node("n1")], storageclasses=[class_], persistentvolumes=[volume])
    answer = ask(world, "schedule", file=tmp_path / "f", objects=[stateful])
    assert where(answer) == {"db-0": "n1", "db-1": ""}
    assert "didn't find available persistent volumes to bind" in answer.pending[0].message
    class_ |= {"provisioner": "example.com/disk", "volumeBindingMode": "Immediate"}
    answer = ask(
        cluster([node("n0")], storageclasses=[class_]), "schedule", file=tmp_path / "f", objects=[stateful]
    )
    assert where(answer) == {"db-0": "n0", "db-1": "n0"}


@pytest.mark.parametrize(
    ("objects", "arguments", "words"),
    [
        (
            [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}],
            (),
            "kind: no pods come of ConfigMap",
        ),
        (
            [deployment("web", 1, priorityClassName="none")],
            (),
            "spec.priorityClassName: no PriorityClass with name none",
        ),
        (
            [deployment("web", 1, runtimeClassName="none")],
            (),
            'spec.runtimeClassName: RuntimeClass "none" not found',
        ),
        ([daemon_set()], ("--count=-1",), ""),
        (
            [{"apiVersion": "v1", "kind": "Pod", **pod("p", nodeName="n0")}],
            (),
            "pod p: spec.nodeName: Forbidden",
        ),
        ([deployment("web", 1)], ("--count=-1",), "must be from 0 to"),
        ([{"apiVersion": "v1", "kind": "Pod", **pod("there")}], (), 'pods "default/there" already exists'),
    ],
)
def test_what_cannot_be_asked(
    objects: list[Object], arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    world = cluster([node("n0")], [running("there", "n0")])
    if not words:
        assert len(ask(world, "schedule", *arguments, file=tmp_path / "f", objects=objects).placements) == 1
        return
    with pytest.raises(QuestionError) as caught:
        ask(world, "schedule", *arguments, file=tmp_path / "f", objects=objects)
    assert words in str(caught.value)


# -- drain and lose ---------------------------------------------------------------------------------------


def mirror(name: str, on: str) -> Object:
    obj = running(name, on, owner=f"Node/{on}")
    obj["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    return obj


def crowd() -> Cluster:
    """Return two zones; the first node has one pod of every sort."""
    pods = [
        running("app-0", "n0"), running("bare", "n0", owner=""), running("agent", "n0", owner="DaemonSet/agent"),
        mirror("static", "n0"), running("app-1", "n1", "3"),
    ]  # fmt: skip
    pods[0]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
    return cluster([node("n0", labels={ZONE: "z0"}), node("n1", labels={ZONE: "z1"})], pods)


def test_drain_leaves_daemons_and_static_pods_where_they_are() -> None:
    answer = ask(crowd(), "drain", "n0")
    assert where(answer) == {"app-0": "n1"} and [placement.pod.name for placement in answer.gone] == ["bare"]
    assert answer.after["n0"].pods == 2 and not answer.blocked
    assert "--force" in answer.notes[0] and "default/bare" in answer.notes[0]
    assert "--delete-emptydir-data" in answer.notes[1] and answer.result == "1 node would be drained"


def test_drain_waits_for_replacements_within_a_budget() -> None:
    pods = [running(f"app-{n}", "n0") for n in range(3)]
    world = cluster([node("n0"), node("n1")], pods, poddisruptionbudgets=[budget("b", 1)])
    answer = ask(world, "drain", "n0")
    assert where(answer) == {f"app-{n}": "n1" for n in range(3)} and not answer.blocked
    world = cluster([node("n0"), node("n1", cpu="2")], pods, poddisruptionbudgets=[budget("b", 0)])
    answer = ask(world, "drain", "n0")
    assert [entry[:2] for entry in answer.blocked] == [(f"default/app-{n}", "n0") for n in range(3)]
    assert answer.placements == [] and answer.result == "the drain of 1 node would not end"


def test_two_nodes_are_drained_together() -> None:
    world = cluster([node("n0"), node("n1"), node("n2", cpu="1")], [running("a", "n0"), running("b", "n1")])
    answer = ask(world, "drain", "n0", "n1")
    assert sorted(where(answer).values()) == ["", "n2"]


@pytest.mark.parametrize("what", ["n0", "z0"])
def test_lose_takes_all_pods_along(what: str) -> None:
    answer = ask(crowd(), "lose", what)
    assert where(answer) == {"app-0": "n1"} and [placement.pod.name for placement in answer.gone] == ["bare"]
    assert list(answer.after) == ["n1"] and answer.result == "1 of 2 nodes would be gone, with 2 pods"


@pytest.mark.parametrize("question", ["drain", "lose"])
def test_unknown_nodes(question: str) -> None:
    with pytest.raises(QuestionError, match='"nowhere"'):
        ask(crowd(), question, "nowhere")


# -- add, fit, scale --------------------------------------------------------------------------------------


def test_add_brings_daemons_and_room() -> None:
    only = daemon_set("gpu", nodeSelector={"gpu": "yes"})
    world = cluster(
        [node("n0")], [pending("big", "6"), pending("huge", "16")], daemonsets=[daemon_set(), only]
    )
    answer = ask(world, "add", "--shape=cpu=8,memory=8Gi", "--count=1")
    assert where(answer) == {"agent-new-0": "new-0", "big": "new-0", "huge": ""}
    assert answer.result == "1 of 2 pending pods would find a node"
    answer = ask(world, "add", "--shape=cpu=6,memory=8Gi")
    assert where(answer)["big"] == ""


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (
            ("--shape=cpu=2,memory=8Gi",),
            "3 nodes of this shape would be enough for all 10 pods; with 2, 2 would stay pending",
        ),
        (
            ("--shape=cpu=2,memory=8Gi", "--empty"),
            "5 nodes of this shape would be enough for all 10 pods; with 4, 2 would",
        ),
        (("--shape=cpu=16,memory=8Gi", "--count=4"), "0 nodes of this shape would be enough for all 4 pods"),
        (
            ("--shape=cpu=500m,memory=8Gi",),
            "no number of such nodes is enough: 6 of 10 pods would stay pending",
        ),
    ],
)
def test_fit(arguments: tuple[str, ...], result: str, tmp_path: Path) -> None:
    world = cluster([node("n0")])
    answer = ask(world, "fit", *arguments, file=tmp_path / "f", objects=[deployment("web", 10)])
    assert answer.result.startswith(result), answer.result


def test_scale() -> None:
    replica_set = {**deployment("app", 3), "kind": "ReplicaSet"}
    replica_set["metadata"] |= {"namespace": "default", "uid": "uid-app"}
    pods = [running("app-a", "n0"), running("app-b", "n0"), running("app-c", "n1")]
    pods[2]["status"]["conditions"] = []

    def world() -> Cluster:
        return cluster(
            [node("n0"), node("n1")], [*pods, pending("other", "3", owner="")], replicasets=[replica_set]
        )

    answer = ask(world(), "scale", "rs/app", "--replicas=7")
    assert sorted(where(answer).values()) == ["", "", "n0", "n0", "n1"] and where(answer)["other"] == "n1"
    answer = ask(world(), "scale", "ReplicaSet/app", "--replicas=1")
    assert [placement.pod.name for placement in answer.gone] == [
        "app-c",
        "app-b",
    ]  # not ready first, then the newest beside another
    assert where(answer)["other"] in ("n0", "n1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("web", "--replicas=1"), "KIND/NAME: Invalid value: 'web'"),
        (("pod/web", "--replicas=1"), "KIND/NAME: Invalid value: 'pod/web'"),
        (("deploy/web", "--replicas=-1"), "--replicas: Invalid value: -1"),
        (("deploy/web", "--replicas=1"), 'deployments "default/web" not found'),
    ],
)
def test_what_cannot_be_scaled(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(QuestionError) as caught:
        ask(cluster([node("n0")]), "scale", *arguments)
    assert words in str(caught.value)


# -- rebalance --------------------------------------------------------------------------------------------


def test_rebalance_moves_what_the_descheduler_would_evict() -> None:
    pods = [running(f"app-{n}", "n0") for n in range(3)] + [running("db-0", "n0", owner="StatefulSet/db")]
    world = cluster([node("n0"), node("n1")], pods)
    evictions = [
        ("default/app-0", "LowNodeUtilization"),
        ("default/db-0", "PodLifeTime"),
        ("default/gone", "PodLifeTime"),
    ]
    answer = ask(world, "rebalance", "--policy=unused", evictions=evictions)
    assert where(answer) == {"app-0": "n1", "db-0": "n1"}
    assert (answer.after["n0"].pods, answer.after["n1"].pods) == (2, 2)
    assert answer.result == "the descheduler would evict 3 pods, 2 would go to another node"
    assert answer.notes == [
        "LowNodeUtilization would evict 1",
        "PodLifeTime would evict 2",
        "taking no room, because they have ended or have gone by now: 1",
    ]


def test_a_pod_that_is_ending_still_has_its_place() -> None:
    world = cluster(
        [node("n0", cpu="1"), node("n1", cpu="1")], [running("app-0", "n0"), running("app-1", "n1")]
    )
    answer = ask(world, "rebalance", "--policy=unused", evictions=[("default/app-0", "PodLifeTime")])
    assert where(answer) == {"app-0": ""} and answer.after["n0"].pods == 0
