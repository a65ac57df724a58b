"""Services of type LoadBalancer have load balancers, whatever the cloud does."""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.client import Client, NotFound
from pybernetes.client.refs import NODES, SERVICES
from pybernetes.control_plane.cloud.controllers.service.balanced import FINALIZER, TO_BE_DELETED
from pybernetes.control_plane.cloud.controllers.service.service import CONTROLLER, ServiceController
from pybernetes.control_plane.cloud.provider import CloudError, ImplementedElsewhere, TryAgainLater
from pybernetes.control_plane.cloud.providers.fake import FakeCloud
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster
from tests.control_plane.cloud.clouds import addresses, loops, messages, node, reasons, service
from tests.support import eventually


def cloud_with(*pool: str) -> FakeCloud:
    return FakeCloud(pool=list(pool))


def only(cloud: FakeCloud) -> list[str]:
    (balancer,) = cloud.balancers.values()
    return sorted(balancer.nodes)


async def gone(client: Client, name: str = "web") -> bool:
    try:
        await client.get(SERVICES, name, "default")
    except NotFound:
        return True
    return False


async def test_from_creation_to_deletion() -> None:
    cloud = cloud_with("192.0.2.1")
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, node("a"))
        async with loops(client, cloud, CONTROLLER) as manager:
            await client.create(SERVICES, service())
            await client.create(SERVICES, service("other", loadBalancerClass="example.com/other"))
            await eventually(lambda: _is(addresses(client), ["192.0.2.1"]))
            obj = await client.get(SERVICES, "web", "default")
            assert obj["metadata"]["finalizers"] == [FINALIZER] and only(cloud) == ["a"]
            await eventually(
                lambda: _has(reasons(client, "web"), "EnsuringLoadBalancer", "EnsuredLoadBalancer")
            )
            # Nodes come and go; other changes of nodes and services are none of the cloud's business.
            await client.create(NODES, node("b"))
            await eventually(lambda: only(cloud) == ["a", "b"])
            await client.patch(
                NODES, "b", {"spec": {"taints": [{"key": TO_BE_DELETED, "effect": "NoSchedule"}]}}
            )
            await eventually(lambda: only(cloud) == ["a"])
            await client.patch(SERVICES, "web", {"spec": {"selector": {"app": "elsewhere"}}}, "default")
            assert cloud.count("ensure") == 1 and cloud.count("update") == 2
            await client.patch(SERVICES, "web", {"spec": {"externalTrafficPolicy": "Local"}}, "default")
            await eventually(lambda: cloud.count("ensure") == 2)
            await client.delete(NODES, "a")
            await eventually(
                lambda: _has(reasons(client, "web"), "UpdatedLoadBalancer", "UnAvailableLoadBalancer")
            )
            await client.delete(SERVICES, "web", "default")
            await eventually(lambda: gone(client))
            assert not cloud.balancers
            await eventually(
                lambda: _has(reasons(client, "web"), "DeletingLoadBalancer", "DeletedLoadBalancer")
            )
            assert await addresses(client, "other") == [] and ("ensure", "other") not in cloud.calls
            assert "service_controller_loadbalancer_sync_total 5" in manager.metrics.render().decode()


async def test_another_type_needs_no_load_balancer() -> None:
    cloud = cloud_with("192.0.2.1")
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER):
            await client.create(SERVICES, service())
            await eventually(lambda: addresses(client))
            await client.patch(SERVICES, "web", {"spec": {"type": "ClusterIP"}}, "default")

            async def let_go() -> bool:
                obj = await client.get(SERVICES, "web", "default")
                return not obj["metadata"].get("finalizers") and not await addresses(client)

            await eventually(let_go)
            assert not cloud.balancers


async def test_a_failing_cloud_is_asked_again_later_and_later_and_said_so() -> None:
    cloud, clock = cloud_with("192.0.2.1"), ManualClock()
    cloud.faults["ensure"] = CloudError("quota exceeded")
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER, clock=clock):
            await client.create(SERVICES, service())
            await eventually(lambda: cloud.count("ensure") == 1)
            told = await eventually(lambda: messages(client, "web", "SyncLoadBalancerFailed"))
            assert told == ["Error syncing load balancer: failed to ensure load balancer: quota exceeded"]
            await clock.advance(4.9)
            assert cloud.count("ensure") == 1
            await clock.advance(0.2)
            await eventually(lambda: cloud.count("ensure") == 2)
            await clock.advance(9.5)
            assert cloud.count("ensure") == 2
            # A cloud that says when is asked then.
            cloud.faults["ensure"] = TryAgainLater("it is being made", 1.0)
            await clock.advance(0.6)
            await eventually(lambda: cloud.count("ensure") == 3)
            del cloud.faults["ensure"]

            async def said() -> bool:
                told = await messages(client, "web", "SyncLoadBalancerFailed")
                return "Error syncing load balancer: failed to ensure load balancer: it is being made" in told

            await eventually(said)

            async def served() -> bool:
                await clock.advance(1.0)
                return await addresses(client) == ["192.0.2.1"]

            await eventually(served)


async def test_what_a_service_has_it_keeps_while_the_cloud_fails() -> None:
    cloud = cloud_with("192.0.2.1")
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER, seconds=0.05) as manager:
            await client.create(SERVICES, service())
            await client.create(SERVICES, service("late"))
            await eventually(lambda: cloud.count("ensure") == 2)
            served, waiting = ("web", "late") if await _has_address(client, "web") else ("late", "web")
            # There is one address for two: one has none and is told so, and does not flap.
            told = await eventually(lambda: messages(client, waiting, "SyncLoadBalancerFailed"))
            assert "the cloud gave it no address" in told[0]
            assert await addresses(client, waiting) == []
            # A cloud that has lost all addresses, fails or hangs takes nothing away.
            for fault in (CloudError("out of order"), asyncio.Event()):
                cloud.faults["ensure"] = cloud.faults["update"] = fault
                before = cloud.count("ensure")
                await client.patch(
                    SERVICES, served, {"metadata": {"annotations": {"a": repr(fault)[:20]}}}, "default"
                )
                _controller(manager).enqueue(f"default/{served}")
                await eventually(lambda before=before: cloud.count("ensure") > before)  # type: ignore[misc]
                assert await addresses(client, served) == ["192.0.2.1"]
            # A service waits until its load balancer is really gone.
            cloud.faults = {"delete": CloudError("out of order")}
            await client.delete(SERVICES, served, "default")
            await eventually(lambda: cloud.count("delete"))
            assert not await gone(client, served)
            cloud.faults = {}
            _controller(manager).enqueue(f"default/{served}")
            await eventually(lambda: gone(client, served))


async def test_somebody_else_may_care_for_it() -> None:
    cloud = cloud_with()
    cloud.faults["ensure"] = ImplementedElsewhere("by another controller")
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER):
            await client.create(SERVICES, service())
            await eventually(lambda: cloud.count("ensure") == 1)
            await client.patch(SERVICES, "web", {"metadata": {"annotations": {"a": "b"}}}, "default")
            await eventually(lambda: cloud.count("ensure") == 2)
            assert "SyncLoadBalancerFailed" not in await reasons(client, "web")


async def test_a_load_balancer_that_vanished_is_made_anew() -> None:
    cloud, clock = cloud_with("192.0.2.1", "192.0.2.2"), ManualClock()
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER, clock=clock):
            await client.create(SERVICES, service())
            await eventually(lambda: _is(addresses(client), ["192.0.2.1"]))
            cloud.balancers.clear()
            await client.create(NODES, node("a"))
            await eventually(lambda: cloud.count("update"))

            async def made() -> bool:
                await clock.advance(5.0)
                return await addresses(client) == ["192.0.2.2"]

            await eventually(made)


async def test_a_service_that_went_without_waiting_leaves_nothing() -> None:
    cloud = cloud_with("192.0.2.1")
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER):
            await client.create(SERVICES, service())
            await eventually(lambda: addresses(client))

            def forced(obj: Object) -> None:
                obj["metadata"]["finalizers"] = []

            await client.modify(SERVICES, "web", "default", forced)
            await client.delete(SERVICES, "web", "default")
            await eventually(lambda: not cloud.balancers)


def _controller(manager: object) -> ServiceController:
    return manager.controllers[CONTROLLER.name]  # type: ignore[attr-defined]


async def _is(answer: object, expected: object) -> bool:
    return await answer == expected  # type: ignore[misc]


async def _has(answer: object, *expected: str) -> bool:
    return set(expected) <= set(await answer)  # type: ignore[misc]


async def _has_address(client: Client, name: str) -> bool:
    return bool(await addresses(client, name))
