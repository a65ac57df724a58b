"""The client against a real API server, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.client import AlreadyExists, Client, Conflict, Expired, Invalid, NotFound, copy
from pybernetes.client.refs import CONFIG_MAPS, LEASES, NAMESPACES, PODS
from tests.cluster import Cluster, pod

TRANSPORTS = ["rest", "local"]


@asynccontextmanager
async def client_of(transport: str) -> AsyncIterator[Client]:
    async with Cluster() as cluster:
        yield cluster.rest_client() if transport == "rest" else cluster.client


def config(name: str, **data: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default", "labels": {"app": name[0]}}, "data": data}


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_verb(transport: str) -> None:
    async with client_of(transport) as client:
        made = await client.create(CONFIG_MAPS, config("one", a="1"))
        assert made["kind"] == "ConfigMap" and made["metadata"]["uid"]
        with pytest.raises(AlreadyExists):
            await client.create(CONFIG_MAPS, config("one"))
        changed = copy(made)
        changed["data"]["a"] = "2"
        stored = await client.update(CONFIG_MAPS, changed)
        assert stored["data"] == {"a": "2"}
        with pytest.raises(Conflict) as conflict:
            await client.update(CONFIG_MAPS, {**made, "data": {"a": "3"}})
        assert conflict.value.code == 409
        assert conflict.value.details is not None and conflict.value.details["name"] == "one"
        patched = await client.patch(CONFIG_MAPS, "one", {"data": {"b": "x"}}, "default")
        assert patched["data"] == {"a": "2", "b": "x"}
        patched = await client.patch(
            CONFIG_MAPS, "one", [{"op": "remove", "path": "/data/b"}], "default", type="json"
        )
        assert patched["data"] == {"a": "2"}
        applied = await client.apply(CONFIG_MAPS, config("one", c="3"), manager="test")
        assert applied["data"] == {"a": "2", "c": "3"}
        assert any(entry["manager"] == "test" for entry in applied["metadata"]["managedFields"])
        dry = await client.create(CONFIG_MAPS, config("dry"), dry_run=True)
        assert dry["metadata"]["name"] == "dry"
        with pytest.raises(NotFound) as missing:
            await client.get(CONFIG_MAPS, "dry", "default")
        assert str(missing.value) == 'configmaps "dry" not found'
        with pytest.raises(Conflict):
            await client.delete(CONFIG_MAPS, "one", "default", uid="another")
        gone = await client.delete(CONFIG_MAPS, "one", "default", uid=made["metadata"]["uid"])
        assert gone["status"] == "Success"
        with pytest.raises(Invalid):
            await client.create(CONFIG_MAPS, config("Not_A_Name"))


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_lists(transport: str) -> None:
    async with client_of(transport) as client:
        for number in range(7):
            await client.create(CONFIG_MAPS, config(f"{'ab'[number % 2]}{number}"))
        page = await client.list_page(CONFIG_MAPS, "default", limit=3)
        assert len(page.items) == 3 and page.continue_token and page.remaining == 4
        everything = await client.list(CONFIG_MAPS, "default", chunk=2)
        assert [item["metadata"]["name"] for item in everything.items] == [
            "a0",
            "a2",
            "a4",
            "a6",
            "b1",
            "b3",
            "b5",
        ]
        assert all(item["kind"] == "ConfigMap" for item in everything.items)
        chosen = await client.list(CONFIG_MAPS, labels="app=b")
        assert len(chosen.items) == 3
        named = await client.list(CONFIG_MAPS, fields="metadata.name=a0")
        assert len(named.items) == 1
        await client.delete_collection(CONFIG_MAPS, "default", labels="app=a")
        assert len((await client.list(CONFIG_MAPS, "default")).items) == 3


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_watch(transport: str) -> None:
    async with client_of(transport) as client:
        first = await client.create(CONFIG_MAPS, config("first"))
        async with client.watch(CONFIG_MAPS, "default", initial=True) as events:
            event = await anext(events)
            assert event.type == "ADDED" and event.object == first
            mark = await anext(events)
            assert mark.type == "BOOKMARK"
            assert mark.object["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
            await client.patch(CONFIG_MAPS, "first", {"data": {"a": "b"}}, "default")
            event = await anext(events)
            assert event.type == "MODIFIED" and event.object["data"] == {"a": "b"}
            await client.delete(CONFIG_MAPS, "first", "default")
            event = await anext(events)
            assert event.type == "DELETED" and event.object["data"] == {"a": "b"}
            version = event.object["metadata"]["resourceVersion"]
            assert int(version) > int(first["metadata"]["resourceVersion"])
            assert events.resource_version == version
        async with client.watch(
            CONFIG_MAPS, "default", resource_version=first["metadata"]["resourceVersion"], timeout=1
        ) as events:
            types = [event.type async for event in events]
        assert types == ["MODIFIED", "DELETED"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_watch_from_a_version_that_is_forgotten(transport: str) -> None:
    async with Cluster() as cluster:
        client = cluster.rest_client() if transport == "rest" else cluster.client
        first = await client.create(CONFIG_MAPS, config("first"))
        last = await client.patch(CONFIG_MAPS, "first", {"data": {"a": "b"}}, "default")
        await cluster.server.context.store.compact(int(last["metadata"]["resourceVersion"]))
        version = first["metadata"]["resourceVersion"]
        with pytest.raises(Expired):
            async with client.watch(CONFIG_MAPS, "default", resource_version=version) as events:
                await anext(events)


async def test_a_quiet_watch_in_the_process_ends_with_a_bookmark() -> None:
    async with client_of("local") as client:
        first = await client.create(CONFIG_MAPS, config("first"))
        version = first["metadata"]["resourceVersion"]
        async with client.watch(PODS, "default", resource_version=version, timeout=1) as events:
            other = await client.create(NAMESPACES, {"metadata": {"name": "other"}})
            seen = [(event.type, int(event.object["metadata"]["resourceVersion"])) async for event in events]
        assert [type_ for type_, _ in seen] == ["BOOKMARK"]
        assert seen[0][1] >= int(other["metadata"]["resourceVersion"])


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_watch_with_a_selector(transport: str) -> None:
    async with client_of(transport) as client:
        await client.create(CONFIG_MAPS, config("x"))
        async with client.watch(CONFIG_MAPS, labels="app=x", initial=True) as events:
            assert [(await anext(events)).type for _ in range(2)] == ["ADDED", "BOOKMARK"]
            await client.create(CONFIG_MAPS, config("y"))
            await client.patch(CONFIG_MAPS, "x", {"metadata": {"labels": {"app": "z"}}}, "default")
            assert (await anext(events)).type == "DELETED"
            await client.patch(CONFIG_MAPS, "x", {"metadata": {"labels": {"app": "x"}}}, "default")
            assert (await anext(events)).type == "ADDED"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_subresources_and_cluster_scope(transport: str) -> None:
    async with client_of(transport) as client:
        made = await client.create(NAMESPACES, {"metadata": {"name": "team"}})
        assert made["status"] == {"phase": "Active"}
        running = await client.create(PODS, pod("web", "team"))
        status = {**running, "status": {"phase": "Running"}}
        assert (await client.update_status(PODS, status))["status"]["phase"] == "Running"
        binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "node-1"}}
        await client.create(PODS, binding, "team", name="web", subresource="binding")
        assert (await client.get(PODS, "web", "team"))["spec"]["nodeName"] == "node-1"


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_discovery(transport: str) -> None:
    async with client_of(transport) as client:
        assert await client.ref("coordination.k8s.io/v1", "Lease") == LEASES
        assert LEASES in await client.discover("coordination.k8s.io/v1")
        with pytest.raises(NotFound):
            await client.ref("example.com/v1", "Widget")


async def test_many_calls_at_once_share_connections() -> None:
    async with Cluster() as cluster:
        client = cluster.rest_client(calls_at_once=10)
        await asyncio.gather(*(client.create(CONFIG_MAPS, config(f"c{number}")) for number in range(50)))
        assert len((await client.list(CONFIG_MAPS, "default")).items) == 50
        for _ in range(20):
            await client.get(CONFIG_MAPS, "c1", "default")
        assert len(client.transport._pool._open) == 10  # type: ignore[attr-defined]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_other_forms_and_plain_text(transport: str) -> None:
    async with client_of(transport) as client:
        await client.create(CONFIG_MAPS, config("one"))
        form = "application/json;as=Table;v=v1;g=meta.k8s.io"
        table = await client.call("GET", "/api/v1/namespaces/default/configmaps", accept=form)
        assert table["kind"] == "Table" and table["rows"][0]["cells"][0] == "one"
        partial = await client.list_page(CONFIG_MAPS, "default", metadata_only=True)
        assert [item["metadata"]["name"] for item in partial.items] == ["one"]
        assert (await client.call("GET", "/version"))["major"] == "1"
        assert await client.call("GET", "/readyz") == "ok"
        with pytest.raises(NotFound):
            await client.call("GET", "/nothing")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_modify_tries_again(transport: str) -> None:
    async with client_of(transport) as client:
        await client.create(CONFIG_MAPS, config("one", count="0"))

        def increment(obj: dict[str, Any]) -> None:
            obj["data"]["count"] = str(int(obj["data"]["count"]) + 1)

        await asyncio.gather(*(client.modify(CONFIG_MAPS, "one", "default", increment) for _ in range(3)))
        assert (await client.get(CONFIG_MAPS, "one", "default"))["data"] == {"count": "3"}
