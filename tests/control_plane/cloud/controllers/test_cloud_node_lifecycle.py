"""Nodes go with their instances, and only then."""

from __future__ import annotations

import asyncio

from pybernetes.client import Client, NotFound
from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers.cloud_node_lifecycle import CONTROLLER, SHUT_DOWN
from pybernetes.control_plane.cloud.provider import CloudError, InstanceNotFound
from pybernetes.control_plane.cloud.providers.fake import FakeCloud, instance
from tests.cluster import Cluster
from tests.control_plane.cloud.clouds import loops, messages, node, set_ready
from tests.support import eventually


async def exists(client: Client, name: str) -> bool:
    try:
        await client.get(NODES, name)
    except NotFound:
        return False
    return True


async def gone(client: Client, name: str) -> bool:
    return not await exists(client, name)


async def tainted(client: Client, name: str) -> bool:
    taints = (await client.get(NODES, name))["spec"].get("taints") or ()
    return any(taint["key"] == SHUT_DOWN for taint in taints)


async def test_a_node_whose_machine_is_gone_is_deleted_when_it_is_not_ready() -> None:
    cloud = FakeCloud(machines={"stays": instance("stays")})
    async with Cluster() as cluster:
        client = cluster.client
        for name in ("forgotten", "lost", "stays"):
            await client.create(NODES, node(name))
        async with loops(client, cloud, CONTROLLER, node_monitor_period=0.02):
            await set_ready(client, "lost", "Unknown")
            await set_ready(client, "stays", "False")
            await eventually(lambda: gone(client, "lost"))
            told = await eventually(lambda: messages(client, "lost", "DeletingNode"))
            assert told == ["Deleting node lost because it does not exist in the cloud provider"]
            before = cloud.count("exists")
            await eventually(lambda: cloud.count("exists") > before + 2)
            assert await exists(client, "stays")
            # One that works is not asked about, whatever the cloud thinks of it.
            assert await exists(client, "forgotten") and ("exists", "forgotten") not in cloud.calls


async def test_nothing_is_deleted_because_of_errors() -> None:
    cloud = FakeCloud()
    stuck = asyncio.Event()
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, node("a", ready="False"))
        cloud.faults["exists"] = CloudError("out of order")
        async with loops(client, cloud, CONTROLLER, seconds=0.03, node_monitor_period=0.02):
            for fault in (CloudError("again"), ValueError("a bug"), stuck):
                cloud.faults["exists"] = fault
                before = cloud.count("exists")
                await eventually(lambda before=before: cloud.count("exists") > before + 1)  # type: ignore[misc]
                assert await exists(client, "a")
            cloud.faults["exists"] = InstanceNotFound("no such instance")
            await eventually(lambda: gone(client, "a"))


async def test_an_instance_that_is_off_has_a_taint_until_it_is_ready() -> None:
    cloud = FakeCloud(machines={"a": instance("a", off=True)})
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, node("a", ready="Unknown"))
        async with loops(client, cloud, CONTROLLER, node_monitor_period=0.02):
            await eventually(lambda: tainted(client, "a"))
            await set_ready(client, "a", "True")

            async def untainted() -> bool:
                return not await tainted(client, "a")

            await eventually(untainted)
