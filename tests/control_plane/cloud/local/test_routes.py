"""Routes of the local cloud, as the route controller wants them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers.route.route import CONTROLLER
from pybernetes.control_plane.cloud.local.local_cloud import LocalCloud
from pybernetes.control_plane.cloud.local.machine import LocalInstance, MachineRoute
from pybernetes.control_plane.cloud.provider import CloudError, Route
from tests.cluster import Cluster
from tests.control_plane.cloud.clouds import loops, node
from tests.control_plane.cloud.local.machines import FakeMachine
from tests.support import eventually


def machine() -> FakeMachine:
    return FakeMachine(a=LocalInstance(("172.30.9.2",)), b=LocalInstance(("172.30.9.3",)), h=LocalInstance())


async def test_what_is_made_is_listed_and_removed() -> None:
    here = machine()
    routes = LocalCloud(here, routed=True).routes
    assert routes is not None and LocalCloud(here).routes is None
    for target, destination in (("a", "10.244.0.0/24"), ("h", "10.244.9.0/24")):
        await routes.create("c", "hint", Route(destination, target))
    assert {(route.target_node, route.destination) for route in await routes.list("c")} == {
        ("a", "10.244.0.0/24"),
        ("h", "10.244.9.0/24"),
    }
    assert {route.node for route in here.routed} == {"a"}  # a hollow node has no pods that could be reached
    for route in await routes.list("c"):
        await routes.delete("c", route)
    assert not await routes.list("c") and not here.routed
    with pytest.raises(CloudError, match="not a node of the local cluster"):
        await routes.create("c", "hint", Route("10.244.0.0/24", "stranger"))
    here.broken = True
    with pytest.raises(OSError, match="away"):
        await routes.list("c")


async def test_a_route_that_some_node_does_not_have_is_made_again_and_one_to_nobody_is_removed() -> None:
    here = machine()
    routes = LocalCloud(here, routed=True).routes
    assert routes is not None
    here.routed = {
        MachineRoute("10.244.0.0/24", "a", "172.30.9.2", complete=False),
        MachineRoute("10.244.7.0/24", "", "172.30.9.77", complete=False),
    }
    (gone,) = await routes.list("c")
    assert gone.blackhole and gone.destination == "10.244.7.0/24"
    await routes.delete("c", gone)
    await routes.create("c", "hint", Route("10.244.0.0/24", "a"))
    assert here.routed == {MachineRoute("10.244.0.0/24", "a", "172.30.9.2", complete=True)}


async def test_the_route_controller_tells_nodes() -> None:
    here = machine()
    cloud = LocalCloud(here, routed=True)
    options: dict[str, Any] = {"cluster_cidr": "10.244.0.0/16", "route_reconciliation_period": 0.05}
    async with Cluster() as cluster:
        for number, name in enumerate(("a", "h", "stranger")):
            cidr = f"10.244.{number}.0/24"
            await cluster.client.create(NODES, node(name, podCIDR=cidr, podCIDRs=[cidr]))

        async def told() -> dict[str, str]:
            """Return why nodes say that their network is there, or not."""
            return {
                item["metadata"]["name"]: condition["reason"]
                for item in (await cluster.client.list(NODES)).items
                for condition in item["status"]["conditions"]
                if condition["type"] == "NetworkUnavailable"
            }

        async def is_told(expected: dict[str, str]) -> bool:
            return await told() == expected

        async with loops(cluster.client, cloud, CONTROLLER, **options):
            await eventually(
                lambda: is_told({"a": "RouteCreated", "h": "RouteCreated", "stranger": "NoRouteCreated"})
            )
            assert {route.node for route in here.routed} == {"a"}
            await cluster.client.delete(NODES, "a")
            await eventually(lambda: not here.routed)
