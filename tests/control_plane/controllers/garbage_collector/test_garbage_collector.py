"""The garbage collector against a real API server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    EVENTS,
    NAMESPACES,
    SECRETS,
    Kindlike,
    Ref,
    as_ref,
)
from pybernetes.control_plane.controllers.garbage_collector import garbage_collector
from pybernetes.runtime.cache import Cache
from tests.cluster import Cluster
from tests.control_plane.controllers.managers import controllers, get_or_none, names, namespace
from tests.support import eventually

GC = garbage_collector.CONTROLLER


def owned_by(*owners: tuple[Kindlike, Object], **more: Any) -> list[Object]:
    return [
        {
            "apiVersion": as_ref(kind).api_version,
            "kind": as_ref(kind).kind,
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            **more,
        }
        for kind, owner in owners
    ]


async def make(
    client: Client, kind: Kindlike, name: str, owners: list[Object] | None = None, where: str = "default"
) -> Object:
    meta: Object = {"name": name, "ownerReferences": owners or []}
    if kind.namespaced:
        meta["namespace"] = where
    return await client.create(kind, {"metadata": meta})


async def gone(client: Client, kind: Kindlike, name: str, where: str = "default") -> bool:
    return await get_or_none(client.get(kind, name, where)) is None


async def test_background_reaches_dependents_of_dependents() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        top = await make(client, CONFIG_MAPS, "top")
        middle = await make(client, SECRETS, "middle", owned_by((CONFIG_MAPS, top)))
        await make(client, CONFIG_MAPS, "bottom", owned_by((SECRETS, middle)))
        await make(client, CONFIG_MAPS, "other")
        await client.delete(CONFIG_MAPS, "top", "default", propagation="Background")
        await eventually(lambda: gone(client, CONFIG_MAPS, "bottom"))
        assert await gone(client, SECRETS, "middle")
        assert not await gone(client, CONFIG_MAPS, "other")


async def test_orphans_stay() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        owner = await make(client, CONFIG_MAPS, "owner")
        for number in range(5):
            await make(client, SECRETS, f"secret-{number}", owned_by((CONFIG_MAPS, owner)))
        await client.delete(CONFIG_MAPS, "owner", "default", propagation="Orphan")
        await eventually(lambda: gone(client, CONFIG_MAPS, "owner"))
        secrets = (await client.list(SECRETS, "default")).items
        assert len(secrets) == 5
        assert not any(secret["metadata"].get("ownerReferences") for secret in secrets)


async def test_foreground_waits_for_those_that_block() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        owner = await make(client, CONFIG_MAPS, "owner")
        blocking = {
            "name": "blocking",
            "namespace": "default",
            "finalizers": ["example.com/wait"],
            "ownerReferences": owned_by((CONFIG_MAPS, owner), blockOwnerDeletion=True),
        }
        await client.create(SECRETS, {"metadata": blocking})
        await client.delete(CONFIG_MAPS, "owner", "default", propagation="Foreground")

        async def is_being_deleted() -> bool:
            return "deletionTimestamp" in (await client.get(SECRETS, "blocking", "default"))["metadata"]

        await eventually(is_being_deleted)
        assert not await gone(client, CONFIG_MAPS, "owner")
        await client.patch(SECRETS, "blocking", {"metadata": {"finalizers": None}}, "default")
        await eventually(lambda: gone(client, CONFIG_MAPS, "owner"))
        assert await gone(client, SECRETS, "blocking")


async def test_foreground_does_not_wait_for_others() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        owner = await make(client, CONFIG_MAPS, "owner")
        meta = {
            "name": "free",
            "namespace": "default",
            "finalizers": ["example.com/wait"],
            "ownerReferences": owned_by((CONFIG_MAPS, owner)),
        }
        await client.create(SECRETS, {"metadata": meta})
        await client.delete(CONFIG_MAPS, "owner", "default", propagation="Foreground")
        await eventually(lambda: gone(client, CONFIG_MAPS, "owner"))
        assert not await gone(client, SECRETS, "free")


async def test_one_owner_is_enough() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        first, second = await make(client, CONFIG_MAPS, "first"), await make(client, CONFIG_MAPS, "second")
        both = owned_by((CONFIG_MAPS, first), (CONFIG_MAPS, second), blockOwnerDeletion=True)
        await make(client, SECRETS, "secret", both)
        await client.delete(CONFIG_MAPS, "first", "default", propagation="Foreground")
        await eventually(lambda: gone(client, CONFIG_MAPS, "first"))
        secret = await client.get(SECRETS, "secret", "default")
        assert [reference["name"] for reference in secret["metadata"]["ownerReferences"]] == ["second"]
        await client.delete(CONFIG_MAPS, "second", "default")
        await eventually(lambda: gone(client, SECRETS, "secret"))


async def test_a_circle_does_not_block_itself() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        made = {name: await make(client, CONFIG_MAPS, name) for name in ("one", "two", "three")}
        for name, owner in (("one", "three"), ("two", "one"), ("three", "two")):
            references = owned_by((CONFIG_MAPS, made[owner]), blockOwnerDeletion=True)
            await client.patch(CONFIG_MAPS, name, {"metadata": {"ownerReferences": references}}, "default")
        await client.delete(CONFIG_MAPS, "one", "default", propagation="Foreground")
        for name in made:
            await eventually(partial(gone, client, CONFIG_MAPS, name))


async def test_owner_that_never_was_and_one_in_another_namespace() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(NAMESPACES, namespace("blue"))
        # Made before the collector starts.
        absent = [{"apiVersion": "v1", "kind": "Secret", "name": "no", "uid": "0-0"}]
        await make(client, CONFIG_MAPS, "lost", absent)
        await make(client, CONFIG_MAPS, "odd", [{**absent[0], "apiVersion": "example.com/v9"}])
        elsewhere = await make(client, SECRETS, "elsewhere", where="blue")
        await make(client, CONFIG_MAPS, "stray", owned_by((SECRETS, elsewhere)))
        await client.create(
            CLUSTER_ROLES,
            {
                "metadata": {"name": "cluster-wide", "ownerReferences": owned_by((SECRETS, elsewhere))},
                "rules": [],
            },
        )
        async with controllers(client, GC):
            await eventually(lambda: gone(client, CONFIG_MAPS, "lost"))
            await eventually(lambda: gone(client, CONFIG_MAPS, "stray"))

            async def reported() -> list[str]:
                events = (await client.list(EVENTS, "default")).items
                return [event["message"] for event in events if event["reason"] == "OwnerRefInvalidNamespace"]

            async def both() -> bool:
                return len(await reported()) == 2

            await eventually(both)
            uid = elsewhere["metadata"]["uid"]
            assert (
                f"ownerRef [v1/Secret, namespace: default, name: elsewhere, uid: {uid}] "
                'does not exist in namespace "default"'
            ) in await reported()
            # Kinds that nobody knows may come; what has no namespace is never collected for one that has.
            assert not await gone(client, CONFIG_MAPS, "odd")
            assert not await gone(client, CLUSTER_ROLES, "cluster-wide", "")


async def test_many_owners_that_never_were_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Counter[str]()
    iterate = Cache.__iter__

    def counted(self: Cache) -> Iterator[Object]:
        looks["at all objects"] += 1
        return iterate(self)

    async with Cluster() as cluster:
        client = cluster.client
        absent = [
            {"apiVersion": "v1", "kind": "Secret", "name": f"no-{number}", "uid": f"0-{number}"}
            for number in range(200)
        ]
        async with controllers(client, GC):
            monkeypatch.setattr(Cache, "__iter__", counted)
            await make(client, CONFIG_MAPS, "lost", absent)
            await eventually(lambda: gone(client, CONFIG_MAPS, "lost"))
            assert looks["at all objects"] < 100


async def test_over_the_network_metadata_is_enough() -> None:
    async with Cluster() as cluster:
        client = cluster.rest_client()
        async with controllers(client, GC) as manager:
            owner = await make(client, CONFIG_MAPS, "owner")
            await make(client, SECRETS, "owned", owned_by((CONFIG_MAPS, owner)))
            await client.delete(CONFIG_MAPS, "owner", "default")
            await eventually(lambda: gone(client, SECRETS, "owned"))
            await eventually(lambda: all(informer.synced for informer in manager.runtime.informers))


WIDGETS = Ref("example.com", "v1", "widgets", "Widget")


async def make_widgets(client: Client) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    await client.create(
        CUSTOM_RESOURCE_DEFINITIONS,
        {
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        },
    )

    async def served() -> bool:
        return await get_or_none(client.list(WIDGETS, "default")) is not None

    await eventually(served)


async def test_custom_resources_own_and_are_owned() -> None:
    async with Cluster() as cluster, controllers(cluster.client, GC):
        client = cluster.client
        await make_widgets(client)
        widget = await make(client, WIDGETS, "widget")
        await make(client, SECRETS, "of-widget", owned_by((WIDGETS, widget)))
        owner = await make(client, CONFIG_MAPS, "owner")
        await make(client, WIDGETS, "owned", owned_by((CONFIG_MAPS, owner)))
        await client.delete(WIDGETS, "widget", "default")
        await eventually(lambda: gone(client, SECRETS, "of-widget"))
        await client.delete(CONFIG_MAPS, "owner", "default")
        await eventually(lambda: gone(client, WIDGETS, "owned"))
        assert await names(client, WIDGETS, "default") == []
