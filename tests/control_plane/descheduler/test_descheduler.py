"""The descheduler against a real API server with hollow nodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    NEW_EVENTS,
    NODES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    PRIORITY_CLASSES,
    REPLICA_SETS,
)
from pybernetes.control_plane.controllers._controller_manager import registry
from pybernetes.control_plane.descheduler.descheduler import Descheduler
from pybernetes.control_plane.descheduler.descheduling import Eviction
from pybernetes.control_plane.descheduler.evictor import PodEvictor
from pybernetes.control_plane.descheduler.plugin import Outcome
from pybernetes.control_plane.descheduler.policy import Policy, PolicyError
from pybernetes.control_plane.scheduler.scheduler import Scheduler
from pybernetes.lib import flags
from pybernetes.lib.clock import Clock
from pybernetes.runtime import Manager
from pybernetes.runtime.election import Election
from pybernetes.runtime.events import SeriesRecorder
from pybernetes.tools.local.hollow import hollow_kubelet
from tests.cluster import Cluster
from tests.control_plane.descheduler.worlds import policy
from tests.support import eventually


class Later(Clock):
    """Two hours ahead, so that pods are old."""

    def now(self) -> float:
        return super().now() + 7200


@asynccontextmanager
async def hollow(client: Client, *names: str) -> AsyncIterator[None]:
    """Be nodes that are ready."""
    ready = asyncio.Event()
    task = asyncio.create_task(hollow_kubelet.run(client, names, version="v1.37.0", ready=ready))
    try:
        await ready.wait()
        for name in names:  # as the controller of nodes does when they are ready
            await client.patch(NODES, name, {"spec": {"taints": None}})
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def pod(name: str, on: str, *, owner: str = "ReplicaSet", labels: dict[str, str] | None = None,
        annotations: dict[str, str] | None = None, **spec: Any) -> Object:  # fmt: skip
    reference = {
        "apiVersion": "apps/v1",
        "kind": owner,
        "name": f"{owner}-1",
        "uid": f"{owner}-uid",
        "controller": True,
    }
    meta: Object = {
        "name": name,
        "namespace": "default",
        "labels": labels or {},
        "annotations": annotations or {},
    }
    if owner:
        meta["ownerReferences"] = [reference]
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "10m"}}}
    return {
        "metadata": meta,
        "spec": {"nodeName": on, "terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


async def running(client: Client, count: int) -> bool:
    pods = (await client.list(PODS, "default")).items
    ready = [
        pod
        for pod in pods
        if any(
            one["type"] == "Ready" and one["status"] == "True" for one in pod["status"].get("conditions", ())
        )
    ]
    return len(ready) == count


async def events(client: Client) -> list[Object]:
    """Return what the descheduler reported; the kubelets of hollow nodes report, too."""
    every = (await client.list(NEW_EVENTS, "default")).items
    return [event for event in every if event.get("reportingController") != "kubelet"]


def names(evictions: list[Eviction]) -> list[tuple[str, str]]:
    return [(eviction.strategy, eviction.record.pod.name) for eviction in evictions]


APART = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"labelSelector": {"matchLabels": {"app": "loner"}}, "topologyKey": "kubernetes.io/hostname"}]}}  # fmt: skip
WANTS_B = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}]}]}}}  # fmt: skip
SPREAD = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
           "labelSelector": {"matchLabels": {"app": "spread"}}}]  # fmt: skip
OLD = {"old": "yes"}
PODS_THERE = [
    *(pod(f"twin-{number}", "a", owner="StatefulSet") for number in range(4)),
    *(pod(f"guarded-{number}", "b", owner="Job", labels={**OLD, "app": "guarded"}) for number in range(3)),
    pod("on-tainted", "c", owner="Thing"),
    *(pod(f"loner-{number}", "b", owner=f"Loner{number}", labels={"app": "loner"}, affinity=APART) for number in range(2)),
    pod("misplaced", "a", owner="Other", affinity=WANTS_B),
    *(pod(f"spread-{number}", "a", owner=f"Spread{number}", labels={"app": "spread"}, topologySpreadConstraints=SPREAD)
      for number in range(3)),
    pod("bare", "a", owner="", labels=OLD),
    pod("daemon", "a", owner="DaemonSet", labels=OLD),
    pod("stores", "a", owner="Store", labels=OLD, volumes=[{"name": "v", "emptyDir": {}}]),
    pod("asked-for", "a", owner="", labels=OLD, annotations={"descheduler.alpha.kubernetes.io/evict": "true"}),
]  # fmt: skip
PROTECTED = {"bare", "daemon", "stores"}


def everything(**more: Any) -> Policy:
    both = [f"{word}DuringSchedulingIgnoredDuringExecution" for word in ("required", "preferred")]
    plugins: dict[str, Object] = {
        "PodLifeTime": {"maxPodLifeTimeSeconds": 3600, "labelSelector": {"matchLabels": OLD}},
        "RemoveFailedPods": {},
        "RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 1},
        "RemovePodsViolatingInterPodAntiAffinity": {},
        "RemovePodsViolatingNodeAffinity": {"nodeAffinityType": both},
        "RemovePodsViolatingNodeTaints": {},
        "RemoveDuplicates": {},
        "RemovePodsViolatingTopologySpreadConstraint": {},
        "LowNodeUtilization": {"thresholds": {"pods": 1}, "targetThresholds": {"pods": 2}},
        "HighNodeUtilization": {"thresholds": {"cpu": 0}},
    }
    return policy(plugins, {"nodeFit": True}, **more)


@asynccontextmanager
async def troubled() -> AsyncIterator[Client]:
    """A cluster in which something is wrong for nearly every plugin, and a budget that allows one disruption."""
    async with Cluster() as cluster, hollow(cluster.client, "a", "b", "c"):
        client = cluster.client
        for pod in PODS_THERE:
            await client.create(PODS, pod)
        await client.patch(NODES, "c", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
        spec = {"minAvailable": 2, "selector": {"matchLabels": {"app": "guarded"}}}
        budget: Object = {"metadata": {"name": "budget", "namespace": "default"}, "spec": spec}
        made = await client.create(POD_DISRUPTION_BUDGETS, budget)
        status = {"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3,
                  "observedGeneration": made["metadata"]["generation"]}  # fmt: skip
        await client.update_status(POD_DISRUPTION_BUDGETS, {**made, "status": status})
        await eventually(lambda: running(client, len(PODS_THERE)))
        yield client


async def test_a_dry_run_equals_a_run() -> None:
    async with troubled() as guarded:
        rehearsal = Descheduler(guarded, everything(), dry_run=True, clock=Later())
        async with rehearsal.following():
            planned = await rehearsal.run_once()
            # A rehearsal leaves everything as it was.
            assert names(await rehearsal.run_once()) == names(planned)
        assert len((await guarded.list(PODS, "default")).items) == len(PODS_THERE)
        assert not await events(guarded)

        descheduler = Descheduler(guarded, everything(), clock=Later())
        async with descheduler.following():
            evicted = await descheduler.run_once()
        assert names(evicted) == names(planned)
        strategies = Counter(strategy for strategy, _ in names(evicted))
        assert strategies == {
            "PodLifeTime": 2,
            "RemovePodsViolatingInterPodAntiAffinity": 1,
            "RemovePodsViolatingNodeAffinity": 1,
            "RemovePodsViolatingNodeTaints": 1,
            "RemoveDuplicates": 2,
            "RemovePodsViolatingTopologySpreadConstraint": 2,
        }
        gone = {name for _, name in names(evicted)}
        assert not gone & PROTECTED and {"asked-for", "on-tainted", "misplaced"} < gone

        async def left() -> bool:
            return {pod["metadata"]["name"] for pod in (await guarded.list(PODS, "default")).items} == {
                pod["metadata"]["name"] for pod in PODS_THERE
            } - gone

        await eventually(left)
        # The budget allowed one of its pods to go, whatever was tried.
        assert len([name for name in gone if name.startswith("guarded")]) == 1
        result = ("error", "PodLifeTime", "p", "default", "b")
        assert descheduler.metrics.evicted[result] == rehearsal.metrics.evicted[result] // 2 == 2
        reported = await events(guarded)
        told = {
            (event["regarding"]["name"], event["reason"], event["action"], event["type"])
            for event in reported
        }
        assert told == {(name, strategy, "Descheduled", "Normal") for strategy, name in names(evicted)}
        assert {event["reportingController"] for event in reported} == {"sigs.k8s.io.descheduler"}


async def test_what_disappears_in_the_middle_is_no_error() -> None:
    async with troubled() as guarded:
        descheduler = Descheduler(guarded, everything(evictionFailureEventNotification=True), clock=Later())
        async with descheduler.following():
            record = descheduler.cluster.records["default/asked-for"]
            await guarded.delete(PODS, "asked-for", "default", grace=0)
            recorder = SeriesRecorder(guarded, "sigs.k8s.io.descheduler")
            evictor = PodEvictor(guarded, descheduler.policy, descheduler.metrics, recorder)
            assert await evictor.evict(Eviction(record, "p", "PodLifeTime")) is Outcome.FAILED
            # Another of its name is another pod.
            await eventually(lambda: is_gone(guarded, "asked-for"))
            await guarded.create(PODS, pod("asked-for", "a"))
            assert await evictor.evict(Eviction(record, "p", "PodLifeTime")) is Outcome.FAILED
            assert "deletionTimestamp" not in (await guarded.get(PODS, "asked-for", "default"))["metadata"]
            await guarded.delete(NODES, "b")
            await eventually(lambda: "b" not in descheduler.cluster.nodes)
            assert all(eviction.record.pod.node != "b" for eviction in await descheduler.run_once())

            async def told() -> bool:
                reported = await events(guarded)
                return any(
                    event["reason"] == "EvictionFailed" and event["type"] == "Warning" for event in reported
                )

            await eventually(told)


async def is_gone(client: Client, name: str) -> bool:
    try:
        await client.get(PODS, name, "default")
    except NotFound:
        return True
    return False


async def test_priority_classes() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 1000})
        named = policy({}, {"priorityThreshold": {"name": "high"}})
        async with Descheduler(client, named).following():
            assert named.profiles[0].arguments["DefaultEvictor"]["priorityThreshold"] == {"value": 1000}
        for threshold, message in (
            ({"name": "none"}, "unable to get priority value from the priority class: "),
            ({"value": 2_000_000_001}, "priority threshold can't be greater than 2000000000"),
        ):
            with pytest.raises(PolicyError, match=message):
                async with Descheduler(client, policy({}, {"priorityThreshold": threshold})).following():
                    pass


async def test_the_rights_that_its_page_names_are_enough() -> None:
    page = (Path(__file__).parents[3] / "docs" / "descheduler.md").read_text()
    blocks = [yaml.safe_load(block.partition("```")[0]) for block in page.split("```yaml\n")[1:]]
    [role] = [block for block in blocks if block["kind"] == "ClusterRole"]
    tokens = "descheduler-token,descheduler,2\n"
    async with (
        Cluster("--authorization-mode=RBAC", tokens=tokens) as cluster,
        hollow(cluster.client, "a", "b"),
    ):
        client = cluster.client
        await client.create(CLUSTER_ROLES, role)
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "descheduler"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "descheduler"}
        binding: Object = {"metadata": {"name": "descheduler"}, "roleRef": reference, "subjects": [subject]}
        await client.create(CLUSTER_ROLE_BINDINGS, binding)
        await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 1000})
        await client.create(PODS, pod("unwelcome", "a"))
        await client.patch(NODES, "a", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
        rules = policy({"RemovePodsViolatingNodeTaints": {}}, {"priorityThreshold": {"name": "high"}})
        descheduler = Descheduler(cluster.rest_client("descheduler-token"), rules)
        manager = Manager(descheduler.client, election=Election("descheduler", "kube-system"))
        manager.add_task("descheduler", descheduler.run)
        await asyncio.wait_for(manager.run(), 60)
        await eventually(lambda: is_gone(client, "unwelcome"))
        [event] = await events(client)
        assert (event["reason"], event["action"]) == ("RemovePodsViolatingNodeTaints", "Descheduled")


async def test_a_node_is_lost_and_comes_back() -> None:
    """Pods do not move by themselves; the descheduler evens them out."""
    async with Cluster() as cluster:
        client = cluster.client
        manager, scheduler = Manager(client), Scheduler(client)
        known = registry.descriptors()
        registry.add_all(
            manager, registry.select(("replicaset",), known), flags.defaults(registry.flags(known))
        )
        tasks = [asyncio.create_task(manager.run()), asyncio.create_task(scheduler.run())]

        async def spread() -> list[int]:
            pods = (await client.list(PODS, "default")).items
            there = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
            return sorted(Counter(pod["spec"].get("nodeName", "") for pod in there).values())

        async def is_spread(*counts: int) -> bool:
            return await spread() == list(counts) and await running(client, sum(counts))

        try:
            async with hollow(client, "a", "b"):
                async with hollow(client, "c"):
                    await client.create(REPLICA_SETS, _replica_set(6))
                    await eventually(lambda: is_spread(2, 2, 2))
                await client.delete(NODES, "c")  # it is lost, and its pods with it
                for pod in (await client.list(PODS, "default", fields="spec.nodeName=c")).items:
                    await client.delete(PODS, pod["metadata"]["name"], "default", grace=0)
                await eventually(lambda: is_spread(3, 3))
                async with hollow(client, "c"):
                    await eventually(lambda: scheduler.snapshot.node_count == 3)
                    assert await spread() == [3, 3]
                    descheduler = Descheduler(client, policy({"RemoveDuplicates": {}}, {"nodeFit": True}))
                    async with descheduler.following():
                        assert len(await descheduler.run_once()) == 2
                    await eventually(lambda: is_spread(2, 2, 2))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _replica_set(replicas: int) -> Object:
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "10m"}}}
    spec = {"terminationGracePeriodSeconds": 0, "containers": [container]}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": spec}
    return {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }
