"""Objects that are stored in an old version are written anew."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.client import NotFound
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, STORAGE_VERSION_MIGRATIONS, Ref
from pybernetes.control_plane.controllers import storage_version_migrator as migrator
from pybernetes.runtime import Manager
from tests.cluster import Cluster
from tests.support import eventually

WIDGETS = Ref("example.com", "v1", "widgets", "Widget", True)


def definition(storage: str) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"name": name, "served": True, "storage": name == storage, "schema": schema} for name in ("v1", "v2")
    ]
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    return {"metadata": {"name": "widgets.example.com"}, "spec": spec}


def migration(
    name: str, created: str = "2026-01-01T00:00:00Z", running: bool = False, over: bool = False
) -> Any:
    conditions = [{"type": "Running", "status": "True"}] * running + [
        {"type": "Succeeded", "status": "True"}
    ] * over
    return {
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": {"resource": {"group": "g", "resource": "r"}},
        "status": {"conditions": conditions},
    }


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([], True),
        ([migration("a")], False),
        ([migration("z")], True),
        ([migration("a", over=True)], True),
        ([migration("z", running=True)], False),
        ([migration("z", created="2025-01-01T00:00:00Z")], False),
        ([{**migration("a"), "spec": {"resource": {"group": "g", "resource": "other"}}}], True),
    ],
)
def test_one_migration_of_a_resource_at_a_time(others: list[Any], expected: bool) -> None:
    mine = migration("m")
    assert migrator.is_next(mine, [mine, *others]) is expected


@pytest.mark.parametrize(
    ("left", "total", "text"),
    [
        (0, 0, "The migration is running"),
        (2, 5, "The migration is running, 2/5 objects not yet migrated"),
        (0, 5, "The migration is running, 5 objects verified migrated"),
    ],
)
def test_how_far_it_is(left: int, total: int, text: str) -> None:
    assert migrator.progress(left, total) == text


async def test_objects_are_stored_in_the_version_of_now() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition("v1"))

        async def served() -> bool:
            try:
                await client.list(WIDGETS)
            except NotFound:
                return False
            return True

        await eventually(served)
        for number in range(3):
            await client.create(WIDGETS, {"metadata": {"name": f"w{number}", "namespace": "default"}})
        changed = await client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
        changed["spec"] = {**changed["spec"], "versions": definition("v2")["spec"]["versions"]}
        await client.update(CUSTOM_RESOURCE_DEFINITIONS, changed)

        async def both() -> bool:
            definition = await client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
            return definition["status"]["storedVersions"] == ["v1", "v2"]

        await eventually(both)
        manager = Manager(client)
        manager.add(migrator.StorageVersionMigrator(manager.runtime))
        work = asyncio.create_task(manager.run())
        try:
            resource = {"group": "example.com", "resource": "widgets"}
            body = {"metadata": {"name": "move"}, "spec": {"resource": resource}}
            await client.create(STORAGE_VERSION_MIGRATIONS, body)

            async def over() -> Any:
                migration = await client.get(STORAGE_VERSION_MIGRATIONS, "move")
                return migration if migrator.is_over(migration) else None

            done = await eventually(over)
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        assert migrator.condition(done, "Succeeded") == "True"
        assert migrator.condition(done, "Running") == "False"
        stored = cluster.server.store.list("/registry/example.com/widgets/").records
        assert len(stored) == 3
        assert all(b'"apiVersion":"example.com/v2"' in record.value for record in stored)
        changed = await client.get(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
        assert changed["status"]["storedVersions"] == ["v2"]
        assert migrator.condition(changed, "StorageMigrating") == "False"
