"""Quotas count what namespaces use."""

from __future__ import annotations

from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES, PODS, RESOURCE_QUOTAS, SERVICES
from pybernetes.control_plane.controllers import resourcequota
from tests.cluster import Cluster, pod
from tests.control_plane.controllers.managers import controllers, namespace
from tests.support import eventually


async def used(client: Client, name: str = "quota") -> dict[str, str]:
    return (await client.get(RESOURCE_QUOTAS, name, "blue")).get("status", {}).get("used", {})


async def has(client: Client, **expected: str) -> None:
    wanted = {name.replace("__", "/"): value for name, value in expected.items()}

    async def so() -> bool:
        counted = await used(client)
        return all(counted.get(name) == value for name, value in wanted.items())

    await eventually(so)


def asking(name: str, cpu: str, **meta: Any) -> dict[str, Any]:
    made = pod(name, "blue", **meta)
    resources = {"requests": {"cpu": cpu, "memory": "1Mi"}, "limits": {"cpu": cpu, "memory": "1Mi"}}
    made["spec"]["containers"][0]["resources"] = resources
    return made


async def test_usage_is_counted_and_given_back() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NAMESPACES, namespace("blue"))
        await client.create(PODS, asking("one", "500m"))
        await client.create(PODS, asking("two", "250m"))
        await client.create(CONFIG_MAPS, {"metadata": {"name": "config", "namespace": "blue"}})
        hard = {"pods": "5", "cpu": "2", "configmaps": "9", "count/deployments.apps": "3", "services": "2"}
        quota = {"metadata": {"name": "quota", "namespace": "blue"}, "spec": {"hard": hard}}
        async with controllers(client, resourcequota.CONTROLLER):
            await client.create(RESOURCE_QUOTAS, quota)
            await has(client, pods="2", cpu="750m", configmaps="1", services="0")
            assert (await used(client))["count/deployments.apps"] == "0"
            assert (await client.get(RESOURCE_QUOTAS, "quota", "blue"))["status"]["hard"] == hard
            await client.delete(CONFIG_MAPS, "config", "blue")
            await has(client, configmaps="0")
            # A pod that has ended uses nothing.
            await client.patch(PODS, "one", {"status": {"phase": "Succeeded"}}, "blue", subresource="status")
            await has(client, pods="1", cpu="250m")
            await client.delete(PODS, "two", "blue", grace=0)
            await has(client, pods="0", cpu="0")
            # Another limit is taken over, and one that is gone is not counted any more.
            await client.patch(
                RESOURCE_QUOTAS, "quota", {"spec": {"hard": {"cpu": "4", "pods": None}}}, "blue"
            )

            async def changed() -> bool:
                status = (await client.get(RESOURCE_QUOTAS, "quota", "blue"))["status"]
                return status["hard"]["cpu"] == "4" and "pods" not in status["used"]

            await eventually(changed)
            # What others say of the limits is put right at once.
            wrong = {"status": {"hard": {"cpu": "100"}}}
            await client.patch(RESOURCE_QUOTAS, "quota", wrong, "blue", subresource="status")
            await eventually(changed)


async def test_wrong_usage_is_put_right() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NAMESPACES, namespace("blue"))
        await client.create(
            SERVICES, {"metadata": {"name": "web", "namespace": "blue"}, "spec": {"ports": [{"port": 80}]}}
        )
        hard = {"services": "5", "services.nodeports": "1"}
        await client.create(
            RESOURCE_QUOTAS, {"metadata": {"name": "quota", "namespace": "blue"}, "spec": {"hard": hard}}
        )
        async with controllers(client, resourcequota.CONTROLLER, resource_quota_sync_period=0.1):
            await has(client, services="1")
            await client.patch(
                RESOURCE_QUOTAS,
                "quota",
                {"status": {"used": {"services": "4"}}},
                "blue",
                subresource="status",
            )
            await has(client, services="1")
