"""New nodes are completed by the cloud, and wait for it when it fails."""

from __future__ import annotations

import asyncio

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import NODES
from pybernetes.control_plane.cloud.controllers.cloud_node.cloud_node import CONTROLLER
from pybernetes.control_plane.cloud.provider import CloudError, InstanceMetadata
from pybernetes.control_plane.cloud.providers.fake import FakeCloud, FakeInstance, instance
from tests.cluster import Cluster
from tests.control_plane.cloud.clouds import TAINT, loops, node, reasons
from tests.support import eventually


async def initialized(client: Client, name: str) -> Object | None:
    obj = await client.get(NODES, name)
    return obj if TAINT not in (obj["spec"].get("taints") or ()) else None


async def test_a_new_node_gets_what_the_cloud_knows() -> None:
    cloud = FakeCloud(
        machines={"a": instance("a", addresses=["10.0.0.1"], type="large", zone="z", region="r")}
    )
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NODES, node("a", TAINT))
        async with loops(client, cloud, CONTROLLER, node_status_update_frequency=0.02) as manager:
            obj = await eventually(lambda: initialized(client, "a"))
            assert obj["spec"]["providerID"] == "fake://a"
            assert obj["metadata"]["labels"]["topology.kubernetes.io/region"] == "r"
            assert [entry["address"] for entry in obj["status"]["addresses"]] == ["10.0.0.1", "a"]
            await eventually(lambda: _reported(client, "a", "Synced"))
            # Another address is seen from time to time.
            cloud.machines["a"] = instance("a", addresses=["10.0.0.9"])
            await eventually(lambda: _has_address(client, "a", "10.0.0.9"))
            await client.patch(
                NODES, "a", {"metadata": {"labels": {"beta.kubernetes.io/instance-type": "huge"}}}
            )
            await eventually(lambda: _has_label(client, "a", "node.kubernetes.io/instance-type", "huge"))
            text = manager.metrics.render().decode()
            assert "node_controller_initial_node_sync_delay_seconds_count 1" in text
            assert 'cloud_provider_calls_total{operation="instance_metadata",result="success"}' in text


async def test_a_node_waits_while_the_cloud_fails_is_slow_or_says_too_little() -> None:
    stuck = asyncio.Event()
    cloud = FakeCloud(faults={"metadata": CloudError("out of order")})
    async with Cluster() as cluster:
        client = cluster.client
        async with loops(client, cloud, CONTROLLER, seconds=0.05) as manager:
            await client.create(NODES, node("a", TAINT))
            await eventually(lambda: cloud.count("metadata") > 2)
            cloud.faults["metadata"] = stuck
            before = cloud.count("metadata")
            await eventually(lambda: cloud.count("metadata") > before + 1)  # each call had its time
            cloud.machines["a"] = FakeInstance(InstanceMetadata(""))  # no provider id: nothing works without
            del cloud.faults["metadata"]
            before = cloud.count("metadata")
            await eventually(lambda: cloud.count("metadata") > before + 1)
            assert await initialized(client, "a") is None
            cloud.machines["a"] = instance("a")
            obj = await eventually(lambda: initialized(client, "a"))
            assert obj["status"]["addresses"] == [{"type": "Hostname", "address": "a"}]  # it named none
            text = manager.metrics.render().decode()
            assert 'calls_total{operation="instance_metadata",result="error"}' in text


async def _reported(client: Client, name: str, reason: str) -> bool:
    return reason in await reasons(client, name)


async def _has_address(client: Client, name: str, address: str) -> bool:
    return any(
        entry["address"] == address for entry in (await client.get(NODES, name))["status"]["addresses"]
    )


async def _has_label(client: Client, name: str, label: str, value: str) -> bool:
    return (await client.get(NODES, name))["metadata"]["labels"].get(label) == value
