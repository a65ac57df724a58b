"""Services that two clusters share, over their real API servers."""

from __future__ import annotations

from typing import Any

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import ENDPOINT_SLICES, NAMESPACES, SERVICES, Kindlike
from pybernetes.control_plane.federation.kinds import NAMESPACE
from pybernetes.control_plane.federation.multicluster.imports import derived_name
from pybernetes.control_plane.federation.multicluster.kinds import (
    LOCAL_SERVICE,
    OURS,
    SERVICE_EXPORTS,
    SERVICE_IMPORTS,
    SERVICE_NAME,
    SOURCE_CLUSTER,
)
from pybernetes.tools.federation.joining import Joining
from pybernetes.tools.federation.sharing import share
from tests.control_plane.federation.fleet import Fleet
from tests.support import eventually


async def export(client: Client, address: str, *ports: int, namespace: str = "team") -> None:
    """Make a Service with an endpoint, and export it."""
    listed = [{"name": f"p{number}", "port": number, "targetPort": number} for number in ports]
    await client.create(SERVICES, {"metadata": {"name": "web"}, "spec": {"ports": listed}}, namespace)
    meta = {"name": "web-1", "labels": {LOCAL_SERVICE: "web"}}
    endpoints = [{"addresses": [address], "conditions": {"ready": True}}]
    taken = [{"name": f"p{number}", "port": number} for number in ports]
    await client.create(
        ENDPOINT_SLICES,
        {"metadata": meta, "addressType": "IPv4", "endpoints": endpoints, "ports": taken},
        namespace,
    )
    await client.create(SERVICE_EXPORTS, {"metadata": {"name": "web"}}, namespace)


async def got(client: Client, kind: Kindlike, name: str) -> dict[str, Any] | None:
    try:
        return await client.get(kind, name, "team")
    except NotFound:
        return None


async def addresses(client: Client) -> dict[str, list[str]]:
    """Return the imported endpoints of each cluster."""
    page = await client.list(ENDPOINT_SLICES, "team", labels=f"{SERVICE_NAME}=web,{OURS}=true")
    return {
        obj["metadata"]["labels"][SOURCE_CLUSTER]: [
            address for endpoint in obj["endpoints"] for address in endpoint["addresses"]
        ]
        for obj in page.items
    }


async def has(client: Client, expected: dict[str, list[str]]) -> None:
    """Wait until a cluster has these endpoints."""

    async def there() -> bool:
        return await addresses(client) == expected

    await eventually(there)


async def test_what_is_exported_is_imported_everywhere() -> None:
    async with Fleet("one", "two") as fleet:
        await fleet.install()
        await fleet.join()
        one, two = (fleet.members[name].client for name in ("one", "two"))
        for name, client in (("one", one), ("two", two)):
            await share(client, Joining(name, "host", NAMESPACE))
            await client.create(NAMESPACES, {"metadata": {"name": "team"}})
        await fleet.start()

        async def served() -> bool:
            try:
                await two.list(SERVICE_EXPORTS)
                await one.list(SERVICE_EXPORTS)
            except NotFound:
                return False
            return True

        await eventually(served)
        await export(one, "10.1.0.1", 80)
        for client in (one, two):
            await has(client, {"one": ["10.1.0.1"]})
        imported = await two.get(SERVICE_IMPORTS, "web", "team")
        derived = await two.get(SERVICES, derived_name("team", "web"), "team")
        assert imported["spec"]["ips"] == derived["spec"]["clusterIPs"] != []
        assert "selector" not in derived["spec"]

        async def conditions(client: Client) -> dict[str, str]:
            service_export = await client.get(SERVICE_EXPORTS, "web", "team")
            return {
                row["type"]: row["reason"]
                for row in (service_export.get("status") or {}).get("conditions") or ()
            }

        async def told(client: Client, reason: str) -> None:
            async def there() -> bool:
                return (await conditions(client)).get("Conflict") == reason

            await eventually(there)

        await told(one, "NoConflicts")
        # The other cluster exports it too, with one port more.
        await export(two, "10.2.0.1", 80, 90)
        for client in (one, two):
            await has(client, {"one": ["10.1.0.1"], "two": ["10.2.0.1"]})
            await told(client, "PortConflict")

        async def clusters() -> list[str]:
            service_import = await one.get(SERVICE_IMPORTS, "web", "team")
            ports = [port["port"] for port in service_import["spec"]["ports"]]
            named = [row["cluster"] for row in (service_import.get("status") or {}).get("clusters") or ()]
            return named if ports == [80, 90] else []

        async def both() -> bool:
            return await clusters() == ["one", "two"]

        await eventually(both)
        # Endpoints change; what somebody else made stays what it is.
        await one.patch(ENDPOINT_SLICES, "web-1", {"endpoints": [{"addresses": ["10.1.0.9"]}]}, "team")
        await has(two, {"one": ["10.1.0.9"], "two": ["10.2.0.1"]})
        # One export less, then none.
        await one.delete(SERVICE_EXPORTS, "web", "team")
        await has(one, {"two": ["10.2.0.1"]})
        await two.delete(SERVICE_EXPORTS, "web", "team")

        async def gone() -> bool:
            left = [
                await got(client, kind, name)
                for client in (one, two)
                for kind, name in ((SERVICE_IMPORTS, "web"), (SERVICES, derived_name("team", "web")))
            ]
            return left == [None] * 4 and not await addresses(one) and not await addresses(two)

        await eventually(gone)
        assert await got(one, SERVICES, "web") is not None
