"""A question and its real outcome agree: ask, then do it, with a real API server, hollow nodes and the scheduler."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, TooManyRequests
from pybernetes.client.refs import NODES, POD_DISRUPTION_BUDGETS, PODS, PRIORITY_CLASSES, REPLICA_SETS
from pybernetes.cmd import what_if
from pybernetes.control_plane.controllers._controller_manager import registry
from pybernetes.control_plane.descheduler import policy as policies
from pybernetes.control_plane.descheduler.descheduler import Descheduler
from pybernetes.lib import flags
from pybernetes.runtime import Manager
from pybernetes.tools.local.hollow import hollow_kubelet
from pybernetes.tools.what_if import reading
from pybernetes.tools.what_if.answer import Answer
from tests.cluster import Cluster
from tests.control_plane.controllers.world import workload
from tests.control_plane.scheduler.helpers import add_node, condition, scheduling
from tests.scheduling.builders import node, pod
from tests.support import eventually
from tests.tools.what_if.clusters import POLICY, ZONE, ask

HOST = "kubernetes.io/hostname"
APPS = ("a", "b", "c")


# -- one pod after the other, on generated clusters ---------------------------------------------------------


def some_node(chance: random.Random, number: int) -> Object:
    """Return a node; zones, sizes, taints and labels vary."""
    spec: dict[str, Any] = {}
    if chance.random() < 0.2:
        spec["taints"] = [
            {"key": "only", "value": "for", "effect": chance.choice(("NoSchedule", "PreferNoSchedule"))}
        ]
    labels = {ZONE: f"z{number % 3}", "disk": chance.choice(("ssd", "hdd"))}
    return node(f"n{number}", chance.choice(("2", "3", "4")), chance.choice(("4", "110")), labels, **spec)


def some_pod(chance: random.Random, number: int) -> Object:
    """Return a pod; amounts, priority, affinity and spreading vary."""
    app = chance.choice(APPS)
    spec: dict[str, Any] = {"terminationGracePeriodSeconds": 0}
    labels = {"matchLabels": {"app": app}}
    if chance.random() < 0.3:
        spec["nodeSelector"] = {"disk": chance.choice(("ssd", "hdd"))}
    if chance.random() < 0.3:
        spec["tolerations"] = [{"key": "only", "operator": "Exists"}]
    if chance.random() < 0.3:
        spec["priorityClassName"] = "high"
    if chance.random() < 0.3:
        term = {"topologyKey": chance.choice((HOST, ZONE)), "labelSelector": labels}
        kind = chance.choice(("podAffinity", "podAntiAffinity"))
        spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if chance.random() < 0.3:
        spec["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": ZONE, "labelSelector": labels,
             "whenUnsatisfiable": chance.choice(("DoNotSchedule", "ScheduleAnyway"))}
        ]  # fmt: skip
    made = pod(f"p{number}", chance.choice(("300m", "700m", "1500m")), {"app": app}, **spec)
    return {"apiVersion": "v1", "kind": "Pod", **made}


async def asked(client: Client, question: str, *arguments: str, **file: Any) -> Answer:
    return ask(await reading.read(client), question, *arguments, **file)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
async def test_where_pods_go(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    seen: Counter[str] = Counter()
    async with Cluster() as cluster, scheduling(cluster.client):
        client = cluster.client
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 1000})
        for number in range(6):
            await add_node(client, some_node(chance, number))
        for number in range(28):
            obj = some_pod(chance, number)
            answer = await asked(client, "schedule", file=tmp_path / "pod.yaml", objects=[obj])
            name, before = (
                obj["metadata"]["name"],
                {pod["metadata"]["name"] for pod in (await client.list(PODS)).items},
            )
            placement = next(candidate for candidate in answer.placements if candidate.pod.name == name)
            await client.create(PODS, obj)

            async def settled(name: str = name, waits: bool = not placement.node) -> Object | None:
                current = await client.get(PODS, name, "default")
                if current["spec"].get("nodeName") or (waits and condition(current).get("status") == "False"):
                    return current
                return None

            real = await eventually(settled)
            if not placement.node:
                seen["pending"] += 1
                assert condition(real).get("message") == placement.message, (seed, name)
                await client.delete(PODS, name, "default", grace=0)
                continue
            seen["preempts" if placement.victims else "placed"] += 1
            if not placement.victims:
                assert real["spec"]["nodeName"] in answer.explained[-1].explanation.best, (seed, name)
                continue
            after = {pod["metadata"]["name"] for pod in (await client.list(PODS)).items}
            assert len(before - after) == len(placement.victims), (seed, name)
    assert seen["placed"] > 5 and seen["pending"] and seen.total() == 28, seen


# -- whole nodes and workloads ----------------------------------------------------------------------------


@asynccontextmanager
async def live(nodes: int, replicas: int, cpu: str) -> AsyncIterator[Client]:
    """Yield a client of a cluster with hollow nodes of 32 CPUs and a replica set ``app`` that has settled."""
    names = [f"n{number}" for number in range(nodes)]
    async with Cluster() as cluster:
        client, ready = cluster.client, asyncio.Event()
        manager = Manager(client)
        known = registry.descriptors()
        chosen = registry.select(("replicaset", "disruption"), known)
        registry.add_all(manager, chosen, flags.defaults(registry.flags(known)))
        hollow = hollow_kubelet.run(client, names, version="v1.37.0", ready=ready)
        tasks = [asyncio.create_task(hollow), asyncio.create_task(manager.run())]
        try:
            await ready.wait()
            for number, name in enumerate(names):
                change = {"spec": {"taints": None}, "metadata": {"labels": {ZONE: f"z{number % 2}"}}}
                await client.patch(NODES, name, change)
            async with scheduling(client):
                container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
                await client.create(
                    REPLICA_SETS, workload("app", replicas=replicas, pod={"containers": [container]})
                )
                await eventually(lambda: _ready(client, replicas))
                yield client
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _pods(client: Client) -> list[Object]:
    return [pod for pod in (await client.list(PODS)).items if "deletionTimestamp" not in pod["metadata"]]


async def _ready(client: Client, count: int) -> bool:
    ready = [
        pod
        for pod in await _pods(client)
        for part in pod["status"].get("conditions", ())
        if part["type"] == "Ready" and part["status"] == "True"
    ]
    return len(ready) == count


async def _settled(client: Client, total: int, pending: int) -> bool:
    """Return whether there are so many pods, and as many of them as foretold were told that they fit nowhere."""
    pods = await _pods(client)
    refused = [pod for pod in pods if condition(pod).get("status") == "False"]
    without = [pod for pod in pods if not pod["spec"].get("nodeName")]
    return len(pods) == total and len(refused) == len(without) == pending


def loads(answer: Answer) -> list[int]:
    """Return how many pods the nodes would have, least first: chance decides which of equal nodes gets more."""
    return sorted(use.pods for use in answer.after.values())


async def real_loads(client: Client) -> list[int]:
    """Return how many pods the nodes have, least first."""
    counts = Counter(pod["spec"].get("nodeName", "") for pod in await _pods(client))
    return sorted(counts[node["metadata"]["name"]] for node in (await client.list(NODES)).items)


async def test_a_drain_with_a_budget() -> None:
    async with live(3, 8, "10") as client:
        spec = {"selector": {"matchLabels": {"app": "app"}}, "maxUnavailable": 1}
        await client.create(
            POD_DISRUPTION_BUDGETS, {"metadata": {"name": "b", "namespace": "default"}, "spec": spec}
        )

        async def counted() -> bool:
            budget = await client.get(POD_DISRUPTION_BUDGETS, "b", "default")
            return budget.get("status", {}).get("disruptionsAllowed") == 1

        await eventually(counted)
        node = min((pod["spec"]["nodeName"] for pod in await _pods(client)), key=lambda name: name)
        answer = await asked(client, "drain", node)
        # Two nodes have room for six of the eight: what fits goes, then one more whose replacement is never ready.
        victims = [pod for pod in await _pods(client) if pod["spec"]["nodeName"] == node]
        await client.patch(NODES, node, {"spec": {"unschedulable": True}})

        async def drained() -> bool:
            """Ask for every eviction again, as drain does, and return whether it has come as far as foretold."""
            for victim in victims:
                with suppress(TooManyRequests, NotFound):
                    await _evict(client, victim["metadata"]["name"])
            left = [pod for pod in await _pods(client) if pod["spec"].get("nodeName") == node]
            return len(left) == len(answer.blocked) and await _settled(client, 8, len(answer.pending))

        await eventually(drained)
        assert len(answer.pending) == len(answer.blocked) == 1
        for victim in victims:
            with (
                suppress(NotFound),
                pytest.raises(TooManyRequests, match="would violate the pod's disruption"),
            ):
                await _evict(client, victim["metadata"]["name"])
        assert await real_loads(client) == loads(answer)


async def _evict(client: Client, name: str) -> None:
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "default"},
    }
    await client.create(PODS, eviction, "default", name=name, subresource="eviction")


@pytest.mark.parametrize("what", ["n1", "z0"])
async def test_lost_nodes(what: str) -> None:
    async with live(4, 10, "10") as client:
        answer = await asked(client, "lose", what)
        lost = [node["metadata"]["name"] for node in (await client.list(NODES)).items
                if what in (node["metadata"]["name"], node["metadata"]["labels"][ZONE])]  # fmt: skip
        for name in lost:
            await client.delete(NODES, name)
        for obj in await _pods(client):
            if obj["spec"].get("nodeName") in lost:
                await client.delete(PODS, obj["metadata"]["name"], "default", grace=0)
        await eventually(lambda: _settled(client, 10, len(answer.pending)))
        assert await real_loads(client) == loads(answer)


@pytest.mark.parametrize("replicas", [2, 13])
async def test_another_number_of_replicas(replicas: int) -> None:
    async with live(4, 7, "10") as client:
        answer = await asked(client, "scale", "rs/app", f"--replicas={replicas}")
        await client.patch(REPLICA_SETS, "app", {"spec": {"replicas": replicas}}, "default")
        await eventually(lambda: _settled(client, replicas, len(answer.pending)))
        assert await real_loads(client) == loads(answer)
        assert bool(answer.pending) == (replicas == 13)


async def test_what_the_descheduler_moves(tmp_path: Path) -> None:
    async with live(3, 6, "4") as client:
        # A node is lost and comes back: pods do not move by themselves.
        await client.patch(NODES, "n2", {"spec": {"unschedulable": True}})
        for obj in await _pods(client):
            if obj["spec"]["nodeName"] == "n2":
                await client.delete(PODS, obj["metadata"]["name"], "default", grace=0)
        await eventually(lambda: _ready(client, 6))
        await client.patch(NODES, "n2", {"spec": {"unschedulable": None}})
        assert await real_loads(client) == [0, 3, 3]
        policy = policies.parse(POLICY)
        evictions = await what_if.descheduler_evictions(client, policy)
        answer = await asked(client, "rebalance", "--policy=given", evictions=evictions)
        assert loads(answer) == [2, 2, 2]
        assert await real_loads(client) == [0, 3, 3]  # nothing but a question so far
        descheduler = Descheduler(client, policy)
        async with descheduler.following():
            evicted = await descheduler.run_once()
        assert Counter(eviction.record.pod.node for eviction in evicted) == Counter(
            placement.was_on for placement in answer.placed
        )
        await eventually(lambda: _ready(client, 6))
        await eventually(lambda: _settled(client, 6, 0))
        assert await real_loads(client) == loads(answer)
