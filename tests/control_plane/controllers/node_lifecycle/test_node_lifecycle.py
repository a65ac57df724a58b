"""Nodes that are not heard of, and the pods on them, with a clock that the test moves."""

from __future__ import annotations

import time
from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import EVENTS, LEASES, NAMESPACES, NODES, PODS
from pybernetes.control_plane.controllers import taint_eviction
from pybernetes.control_plane.controllers.node_lifecycle import node_lifecycle
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.control_plane.controllers.node_lifecycle.nodes import run_pod
from tests.support import eventually

BOTH = (node_lifecycle.CONTROLLER, taint_eviction.CONTROLLER)
TOLERATION = {
    "key": "node.kubernetes.io/unreachable",
    "operator": "Exists",
    "effect": "NoExecute",
    "tolerationSeconds": 300,
}


async def make_node(client: Client, name: str, now: float) -> None:
    ready = {
        "type": "Ready",
        "status": "True",
        "lastHeartbeatTime": rfc3339.seconds(now),
        "reason": "KubeletReady",
    }
    labels = {"kubernetes.io/os": "linux"}
    await client.create(
        NODES, {"metadata": {"name": name, "labels": labels}, "status": {"conditions": [ready]}}
    )
    await renew(client, name, now)


async def renew(client: Client, name: str, now: float) -> None:
    spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": rfc3339.micro(now)}
    if await get_or_none(client.get(LEASES, name, "kube-node-lease")) is None:
        await client.create(
            LEASES, {"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": spec}
        )
    else:
        await client.patch(LEASES, name, {"spec": spec}, "kube-node-lease")


async def readiness(client: Client, name: str) -> str:
    conditions = (await client.get(NODES, name))["status"]["conditions"]
    return next(condition["status"] for condition in conditions if condition["type"] == "Ready")


async def taints(client: Client, name: str) -> set[tuple[str, str]]:
    return {
        (taint["key"].rpartition("/")[2], taint["effect"])
        for taint in (await client.get(NODES, name))["spec"].get("taints", ())
    }


async def test_a_silent_node_loses_its_pods() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        if await get_or_none(client.get(NAMESPACES, "kube-node-lease")) is None:
            await client.create(NAMESPACES, {"metadata": {"name": "kube-node-lease"}})
        for name in ("alive", "silent"):
            await make_node(client, name, clock.now())
        await run_pod(client, "patient", "silent", TOLERATION)
        await run_pod(client, "stubborn", "silent", {"operator": "Exists"})
        async with controllers(client, *BOTH, clock=clock) as manager:
            lifecycle: Any = manager.controllers["node-lifecycle-controller"]
            await eventually(lambda: {"alive", "silent"} <= lifecycle._known)
            for _ in range(6):
                await renew(client, "alive", clock.now())
                await eventually(lambda: lifecycle._renewals["alive"] == rfc3339.micro(clock.now()))
                await clock.advance(10)

            async def is_unknown() -> bool:
                return await readiness(client, "silent") == "Unknown"

            await eventually(is_unknown)
            assert await readiness(client, "alive") == "True"

            async def is_tainted() -> bool:
                return await taints(client, "silent") == {
                    ("unreachable", "NoSchedule"),
                    ("unreachable", "NoExecute"),
                }

            await clock.advance(0)
            await eventually(is_tainted)
            assert await taints(client, "alive") == set()
            labels = (await client.get(NODES, "alive"))["metadata"]["labels"]
            assert labels["beta.kubernetes.io/os"] == "linux"

            async def unready() -> bool:
                status = (await client.get(PODS, "stubborn", "default"))["status"]
                return status["conditions"][0]["status"] == "False"

            await eventually(unready)
            eviction: Any = manager.controllers["taint-eviction-controller"]
            await eventually(lambda: "default/patient" in eviction._since)
            # The other node stays alive while the pod's patience runs out.
            for _ in range(31):
                await renew(client, "alive", clock.now())
                await eventually(lambda: lifecycle._renewals["alive"] == rfc3339.micro(clock.now()))
                await clock.advance(10)

            async def evicted() -> Any:
                obj = await get_or_none(client.get(PODS, "patient", "default"))
                return obj is None or "deletionTimestamp" in obj["metadata"]

            await eventually(evicted)
            stubborn = await client.get(PODS, "stubborn", "default")
            assert "deletionTimestamp" not in stubborn["metadata"]

            async def told() -> bool:
                reasons = {event["reason"] for event in (await client.list(EVENTS)).items}
                return {"RegisteredNode", "NodeNotReady", "TaintManagerEviction"} <= reasons

            await eventually(told)
            # Back again.
            back = {"type": "Ready", "status": "True", "lastHeartbeatTime": rfc3339.seconds(clock.now())}
            await client.patch(
                NODES, "silent", {"status": {"conditions": [back]}}, type="strategic", subresource="status"
            )

            async def is_clean() -> bool:
                return await taints(client, "silent") == set()

            await eventually(is_clean)


async def test_nobody_is_evicted_when_all_nodes_are_silent() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        if await get_or_none(client.get(NAMESPACES, "kube-node-lease")) is None:
            await client.create(NAMESPACES, {"metadata": {"name": "kube-node-lease"}})
        await make_node(client, "only", clock.now())
        async with controllers(client, *BOTH, clock=clock) as manager:
            lifecycle: Any = manager.controllers["node-lifecycle-controller"]
            await eventually(lambda: "only" in lifecycle._known)
            await clock.advance(60)

            async def is_unschedulable() -> bool:
                return await taints(client, "only") == {("unreachable", "NoSchedule")}

            await eventually(is_unschedulable)
            await clock.advance(600)
            assert await is_unschedulable()
