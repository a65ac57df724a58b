"""Pods that nobody else deletes."""

from __future__ import annotations

import time
from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.controllers import pod_garbage_collector
from pybernetes.control_plane.controllers.pod_garbage_collector import surplus
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster, pod
from tests.control_plane.controllers.managers import controllers, get_or_none, names
from tests.support import eventually


def test_surplus() -> None:
    def ended(name: str, created: str, reason: str = "") -> dict[str, Any]:
        return {"metadata": {"name": name, "creationTimestamp": created}, "status": {"reason": reason}}

    pods = [ended("new", "3"), ended("old", "1"), ended("evicted", "4", "Evicted"), ended("middle", "2")]
    assert [obj["metadata"]["name"] for obj in surplus(pods, 2)] == ["evicted", "old"]
    assert surplus(pods, 4) == surplus(pods, 0) == []


async def put(client: Client, name: str, node: str = "", phase: str = "Running", **meta: Any) -> None:
    made = pod(name, **meta)
    if node:
        made["spec"]["nodeName"] = node
    await client.create(PODS, made)
    await client.patch(PODS, name, {"status": {"phase": phase}}, "default", subresource="status")


async def test_pods_that_nobody_else_deletes() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        for name in ("node", "leaving", "broken"):
            await client.create(NODES, {"metadata": {"name": name}})
        await put(client, "stays", "node")
        await put(client, "orphan", "leaving", finalizers=["example.com/wait"])
        await put(client, "stuck", "broken")
        await put(client, "held", "", "Pending", finalizers=["example.com/wait"])
        for number in range(5):
            await put(client, f"ended-{number}", "node", "Succeeded")
        gc = pod_garbage_collector.CONTROLLER
        async with controllers(client, gc, clock=clock, terminated_pod_gc_threshold=3) as manager:
            await eventually(lambda: all(informer.synced for informer in manager.runtime.informers))

            async def few_ended() -> bool:
                await clock.advance(21)
                return len([name for name in await names(client, PODS) if name.startswith("ended")]) == 3

            await eventually(few_ended)
            # Deleted before it had a node.
            await client.delete(PODS, "held", "default")

            async def failed(name: str) -> bool:
                return (await client.get(PODS, name, "default"))["status"]["phase"] == "Failed"

            await eventually(lambda: failed("held"))
            # Out of service.
            await client.delete(PODS, "stuck", "default")
            taint = {
                "key": "node.kubernetes.io/out-of-service",
                "value": "nodeshutdown",
                "effect": "NoExecute",
            }
            await client.patch(NODES, "broken", {"spec": {"taints": [taint]}})

            async def stuck_gone() -> bool:
                return await get_or_none(client.get(PODS, "stuck", "default")) is None

            await eventually(stuck_gone)
            # On a node that is gone for a while.
            nodes = manager.runtime.informers.get(NODES)
            await client.delete(NODES, "leaving")
            await eventually(lambda: "leaving" not in nodes)
            await clock.advance(41)
            await eventually(lambda: failed("orphan"))
            orphan = await client.get(PODS, "orphan", "default")
            assert orphan["metadata"]["deletionGracePeriodSeconds"] == 0
            assert orphan["status"]["conditions"][0]["reason"] == "DeletionByPodGC"
            stays = await client.get(PODS, "stays", "default")
            assert stays["status"]["phase"] == "Running"
