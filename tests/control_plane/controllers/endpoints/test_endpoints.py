"""Services, pods and their endpoints in all forms against a real API server."""

from __future__ import annotations

from typing import Any

from pybernetes.client import Client
from pybernetes.client.refs import ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES
from pybernetes.control_plane.controllers import (
    endpointslice_mirroring,
)
from pybernetes.control_plane.controllers.endpoints import endpoints
from pybernetes.control_plane.controllers.endpointslice import endpointslice
from pybernetes.control_plane.controllers.garbage_collector import garbage_collector
from tests.cluster import Cluster, pod
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually

ALL = (
    endpoints.CONTROLLER, endpointslice.CONTROLLER, endpointslice_mirroring.CONTROLLER, garbage_collector.CONTROLLER,
)  # fmt: skip


async def run_pod(client: Client, name: str, address: str, node: str = "node") -> None:
    """What a scheduler and a kubelet do."""
    made = pod(name, labels={"app": "web"})
    made["spec"]["nodeName"] = node
    await client.create(PODS, made)
    await set_ready(client, name, address, "True")


async def set_ready(client: Client, name: str, address: str, ready: str) -> None:
    status = {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-01T00:00:00Z"}],
    }
    await client.patch(PODS, name, {"status": status}, "default", subresource="status")


async def slices(client: Client, name: str = "web") -> list[dict[str, Any]]:
    return (await client.list(ENDPOINT_SLICES, "default", labels=f"kubernetes.io/service-name={name}")).items


async def ready_in_slices(client: Client, name: str = "web") -> dict[str, bool]:
    return {
        endpoint["addresses"][0]: endpoint["conditions"]["ready"]
        for slice_ in await slices(client, name)
        for endpoint in slice_.get("endpoints") or ()
    }


async def in_endpoints(client: Client) -> dict[str, bool]:
    obj = await get_or_none(client.get(ENDPOINTS, "web", "default"))
    result = {}
    for subset in (obj or {}).get("subsets") or ():
        result.update({address["ip"]: True for address in subset.get("addresses") or ()})
        result.update({address["ip"]: False for address in subset.get("notReadyAddresses") or ()})
    return result


async def test_endpoints_follow_pods() -> None:
    async with Cluster() as cluster, controllers(cluster.client, *ALL):
        client = cluster.client
        await client.create(NODES, {"metadata": {"name": "node"}})
        web = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}
        await client.create(SERVICES, {"metadata": {"name": "web", "namespace": "default"}, "spec": web})

        async def has(expected: dict[str, bool]) -> None:
            async def slices_are() -> bool:
                return await ready_in_slices(client) == expected

            async def endpoints_are() -> bool:
                return await in_endpoints(client) == expected

            await eventually(slices_are)
            await eventually(endpoints_are)

        await eventually(lambda: slices(client))
        await run_pod(client, "one", "10.1.0.1")
        await run_pod(client, "two", "10.1.0.2")
        await has({"10.1.0.1": True, "10.1.0.2": True})
        await set_ready(client, "one", "10.1.0.1", "False")
        await has({"10.1.0.1": False, "10.1.0.2": True})
        await client.patch(PODS, "two", {"metadata": {"labels": {"app": "other"}}}, "default")
        await has({"10.1.0.1": False})
        # A pod on a node that nobody knows counts once the node is there.
        await run_pod(client, "three", "10.1.0.3", node="late")
        await client.create(NODES, {"metadata": {"name": "late"}})
        await has({"10.1.0.1": False, "10.1.0.3": True})
        await client.delete(PODS, "one", "default", grace=0)
        await has({"10.1.0.3": True})
        # What others change in a slice is put right.
        [slice_] = await slices(client)
        await client.update(ENDPOINT_SLICES, {**slice_, "endpoints": []})
        await has({"10.1.0.3": True})
        await client.delete(SERVICES, "web", "default")

        async def all_gone() -> bool:
            return (
                not await slices(client)
                and await get_or_none(client.get(ENDPOINTS, "web", "default")) is None
            )

        await eventually(all_gone)


async def test_own_endpoints_are_mirrored() -> None:
    async with Cluster() as cluster, controllers(cluster.client, *ALL):
        client = cluster.client
        own = {"ports": [{"port": 80}]}
        await client.create(SERVICES, {"metadata": {"name": "web", "namespace": "default"}, "spec": own})
        subsets = [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]
        await client.create(
            ENDPOINTS, {"metadata": {"name": "web", "namespace": "default"}, "subsets": subsets}
        )

        async def mirrored() -> bool:
            return await ready_in_slices(client) == {"192.0.2.1": True}

        await eventually(mirrored)
        await client.delete(ENDPOINTS, "web", "default")

        async def gone() -> bool:
            return not await slices(client)

        await eventually(gone)
