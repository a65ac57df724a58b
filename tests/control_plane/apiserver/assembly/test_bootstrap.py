"""What every server makes at its start, when several start at once or one died half way."""

from __future__ import annotations

import asyncio
from functools import partial

import orjson
import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly import bootstrap
from pybernetes.control_plane.apiserver.assembly.identity_lease import IdentityLease
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.assembly.server_leases import ServerLeases
from pybernetes.control_plane.apiserver.assembly.settings import Settings
from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.services import objects
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.store.drivers.memory import MemoryStore
from pybernetes.control_plane.store.protocol import CannotSeal, Record
from tests.servers import Server
from tests.support import until

ADDRESS, SERVICE = "/registry/ipaddresses/10.0.0.1", "/registry/services/specs/default/kubernetes"


class Slow(MemoryStore):
    """A store whose creations take a while, as over a network: others do the same in between."""

    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        await asyncio.sleep(0)
        made = await super().create(key, value, ttl=ttl)
        await asyncio.sleep(0)
        return made


async def start(store: MemoryStore) -> None:
    context, settings, health = (
        new_context(store, Kinds(builtin())),
        Settings(advertise_address="192.0.2.1"),
        Health(),
    )
    await bootstrap.prepare(context, settings, health)
    await bootstrap.announce(context, settings, 6443, health, ServerLeases(store, settings.advertise_address))
    await context.allocators["", "services"].close()


async def _check(store: MemoryStore) -> None:
    service, address = store.get(SERVICE), store.get(ADDRESS)
    assert service is not None and address is not None
    assert orjson.loads(service.value)["spec"]["clusterIPs"] == ["10.0.0.1"]
    assert orjson.loads(address.value)["spec"]["parentRef"]["name"] == "kubernetes"


@pytest.mark.parametrize("servers", [1, 2, 5])
def test_servers_that_start_at_once(servers: int) -> None:
    async def main() -> None:
        store = Slow()
        await store.start()
        await asyncio.gather(*(start(store) for _ in range(servers)))
        await _check(store)

    asyncio.run(main())


class Sealed(Slow):
    """A store that is shared, where nothing can be written while a plug-in that encrypts is away."""

    away = False
    local = False

    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        if self.away:
            raise CannotSeal("got unexpected nil transformer")
        return await super().create(key, value, ttl=ttl)


def test_a_plug_in_that_is_away() -> None:
    """A server that has been there before starts, and says so that what it announces is to be tried again."""

    async def main() -> None:
        store = Sealed()
        await store.start()
        context, settings = new_context(store, Kinds(builtin())), Settings(advertise_address="192.0.2.1")
        leases = ServerLeases(store, settings.advertise_address)
        await bootstrap.prepare(context, settings, Health())
        store.away = True
        assert not await bootstrap.announce(context, settings, 6443, Health(), leases)
        identity = IdentityLease(context, "192.0.2.1:6443")
        await identity.start()
        await identity.close()
        store.away = False
        assert await bootstrap.announce(context, settings, 6443, Health(), leases)
        assert store.get("/registry/masterleases/192.0.2.1") is not None
        await context.allocators["", "services"].close()
        await _check(store)

    asyncio.run(main())


def test_a_server_that_died_half_way() -> None:
    async def main() -> None:
        store = MemoryStore()
        await store.start()
        left = objects.ip_address("10.0.0.1", "default", "kubernetes", "u", "2026-01-01T00:00:00Z")
        await store.create(ADDRESS, orjson.dumps(left))
        await start(store)
        await _check(store)

    asyncio.run(main())


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def _is_another(server: Server, at: str, uid: str) -> bool:
    """Return whether there is an object that is not the one with the UID."""
    status, answer = server.call("GET", at)
    return status == 200 and answer["metadata"]["uid"] != uid


def test_what_must_exist_is_made_again(server: Server) -> None:
    paths = [path("default", "kubernetes", plural) for plural in ("services", "endpoints")]
    paths += ["/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes"]
    _, service = server.call("GET", paths[0])
    for deleted in paths:
        status, before = server.call("GET", deleted)
        assert status == 200
        assert server.call("DELETE", deleted)[0] == 200
        until(partial(_is_another, server, deleted, before["metadata"]["uid"]))
    assert server.call("GET", paths[0])[1]["spec"]["clusterIP"] == service["spec"]["clusterIP"]
    address = f"/apis/networking.k8s.io/v1/ipaddresses/{service['spec']['clusterIP']}"
    until(lambda: server.call("GET", address)[0] == 200)
