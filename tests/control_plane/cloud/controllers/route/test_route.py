"""The cloud has a way to the pods of each node, and nodes say whether it has."""

from __future__ import annotations

import asyncio
from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers.route.route import CONTROLLER
from pybernetes.control_plane.cloud.provider import CloudError, Route
from pybernetes.control_plane.cloud.providers.fake import FakeCloud
from tests.cluster import Cluster
from tests.control_plane.cloud.clouds import loops, messages, node
from tests.support import eventually


async def unavailable(client: Client, name: str) -> tuple[str, str] | None:
    conditions = (await client.get(NODES, name))["status"]["conditions"]
    told = [entry for entry in conditions if entry["type"] == "NetworkUnavailable"]
    return (told[0]["status"], told[0]["reason"]) if told else None


async def test_routes_follow_nodes() -> None:
    cloud = FakeCloud(ways=[Route("10.244.9.0/24", "gone"), Route("192.168.0.0/16", "not-ours")])
    options: dict[str, Any] = {"cluster_cidr": "10.244.0.0/16", "route_reconciliation_period": 0.05}
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, node("a", podCIDR="10.244.0.0/24", podCIDRs=["10.244.0.0/24"]))
        cloud.faults["create_route"] = CloudError("quota exceeded")
        async with loops(client, cloud, CONTROLLER, **options) as manager:
            await eventually(lambda: _is(unavailable(client, "a"), ("True", "NoRouteCreated")))
            assert (
                "quota exceeded"
                in (await eventually(lambda: messages(client, "a", "FailedToCreateRoute")))[0]
            )
            del cloud.faults["create_route"]
            await eventually(lambda: _is(unavailable(client, "a"), ("False", "RouteCreated")))
            assert [route.destination for route in cloud.ways] == ["192.168.0.0/16", "10.244.0.0/24"]
            # A cloud that cannot say which routes it has is left alone, and what nodes say stays.
            cloud.faults["list_routes"] = CloudError("out of order")
            before = cloud.count("list_routes")
            await eventually(lambda: cloud.count("list_routes") > before + 1)
            assert await unavailable(client, "a") == ("False", "RouteCreated")
            del cloud.faults["list_routes"]
            await client.delete(NODES, "a")
            await eventually(lambda: [route.destination for route in cloud.ways] == ["192.168.0.0/16"])
            assert 'route_sync_total{outcome="changed",trigger=' in manager.metrics.render().decode()


async def _is(answer: object, expected: object) -> bool:
    return await answer == expected  # type: ignore[misc]


async def test_it_stops_in_the_middle_of_its_work() -> None:
    """A cancellation that is lost would leave a manager that never ends."""
    cloud = FakeCloud(faults={"list_routes": asyncio.Event()})
    async with (
        Cluster() as cluster,
        asyncio.timeout(60),
        loops(cluster.client, cloud, CONTROLLER, cluster_cidr="10.244.0.0/16"),
    ):
        await eventually(lambda: cloud.count("list_routes"))
