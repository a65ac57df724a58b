"""Fit: the same answers as a plain look at every node, before and after evictions."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pybernetes.api.resource import Object
from pybernetes.control_plane.descheduler.fit import Fit
from pybernetes.control_plane.descheduler.pod_table import PodTable
from tests.control_plane.descheduler.worlds import cluster, node, pod


def random_node(chance: random.Random, number: int) -> Object:
    labels = {"zone": chance.choice("ab")} if chance.random() < 0.8 else {}
    taints = [{"key": "k", "effect": chance.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])}]
    amounts = {"cpu": f"{chance.randint(2, 8) * 100}m", "pods": str(chance.randint(2, 6))}
    return node(
        f"n{number}", labels, amounts=amounts, taints=taints if chance.random() < 0.3 else [],
        unschedulable=chance.random() < 0.1,
    )  # fmt: skip


def random_pod(chance: random.Random, number: int, nodes: int) -> Object:
    spec: Object = {}
    if chance.random() < 0.3:
        spec["nodeSelector"] = {"zone": chance.choice("ab")}
    if chance.random() < 0.3:
        spec["tolerations"] = [{"operator": "Exists"}]
    if chance.random() < 0.4:
        term = {"labelSelector": {"matchLabels": {"app": chance.choice("xyz")}}, "topologyKey": "zone"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    labels = {"app": chance.choice("xyz")}
    on = f"n{chance.randrange(nodes)}"
    return pod(f"p{number}", on, cpu=f"{chance.randint(0, 3) * 100}m", labels=labels, **spec)


def takes(target: Object, wanted: Object, there: list[Object]) -> bool:
    """Look at one node as upstream's NodeFit does."""
    spec, labels = wanted["spec"], target["metadata"]["labels"]
    own = spec["nodeName"] == target["metadata"]["name"]
    others = [
        pod for pod in there if pod["spec"]["nodeName"] == target["metadata"]["name"] and pod is not wanted
    ]
    if target["spec"]["unschedulable"]:
        return False
    if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    hard = [taint for taint in target["spec"]["taints"] if taint["effect"] != "PreferNoSchedule"]
    if hard and not spec.get("tolerations"):
        return False
    anti = spec.get("affinity", {}).get("podAntiAffinity", {})
    for term in anti.get("requiredDuringSchedulingIgnoredDuringExecution", ()):
        avoided = term["labelSelector"]["matchLabels"]["app"]
        if "zone" in labels and any(other["metadata"]["labels"]["app"] == avoided for other in others):
            return False
    if own:
        return True
    allocatable = target["status"]["allocatable"]
    used = sum(millis(other) for other in others)
    # A pod that asks for nothing fits even onto a node that has given away more than it has, as for the scheduler.
    fits = not millis(wanted) or used + millis(wanted) <= int(allocatable["cpu"][:-1])
    return fits and len(others) < int(allocatable["pods"])


def millis(obj: Object) -> int:
    return int(obj["spec"]["containers"][0]["resources"]["requests"]["cpu"][:-1])


@pytest.mark.parametrize("seed", range(12))
def test_the_same_as_a_plain_look(seed: int) -> None:
    chance = random.Random(seed)
    nodes = [random_node(chance, number) for number in range(6)]
    pods = [random_pod(chance, number, len(nodes)) for number in range(18)]
    table = PodTable(cluster(nodes, pods))
    fit = Fit(table)
    left = list(pods)
    for _ in range(6):
        some = np.array([chance.random() < 0.7 for _ in nodes])
        offered = [node for node in nodes if some[table.cluster.snapshot.rows[node["metadata"]["name"]]]]
        for row, obj in enumerate(pods):
            if table.alive[row]:
                fitting = {one["metadata"]["name"] for one in offered if takes(one, obj, left)}
                record = table.records[row].pod
                assert fit.elsewhere(record, some) is bool(fitting - {obj["spec"]["nodeName"]})
                assert fit.anywhere(record, some) is bool(fitting)
        alive = np.flatnonzero(table.alive)
        single = [fit.elsewhere(table.records[row].pod, some) for row in alive.tolist()]
        assert fit.all_elsewhere(alive, some).tolist() == single
        row = chance.choice(alive.tolist())
        table.remove(row)
        left.remove(pods[row])
    table.restore()
    assert table.cluster.snapshot.pod_count.sum() == len(pods)
