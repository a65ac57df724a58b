"""StorageVersionMigrator: rewrites every object of a resource, so that it is stored in the current version.

Of several migrations of a resource the oldest goes first. Each object gets a patch that changes nothing but names
its resource version: the server stores it again if it is stored in another version, and one that somebody else wrote
meanwhile is left alone, because that has done the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, STORAGE_VERSION_MIGRATIONS, Ref
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib import rfc3339
from pybernetes.runtime.controller import Controller

RUNNING, SUCCEEDED, FAILED, MIGRATING = "Running", "Succeeded", "Failed", "StorageMigrating"
_PATIENCE_SECONDS = 60.0  # for a resource that the server does not know yet
_AGAIN_SECONDS = 5.0
_PASSING = (429, 500, 503, 504)


def condition(obj: Object, kind: str) -> str:
    """Return the status of a condition, or an empty string."""
    for condition in obj.get("status", {}).get("conditions") or ():
        if condition["type"] == kind:
            return condition["status"]
    return ""


def with_condition(obj: Object, now: str, **said: Any) -> Object:
    """Return a copy of an object with a condition replaced or added."""
    result = copy(obj)
    status = result["status"] = dict(result.get("status") or {})
    kept = list(status.get("conditions") or ())
    old = next((other for other in kept if other["type"] == said["type"]), None)
    same = old is not None and old["status"] == said["status"]
    new = {**said, "lastTransitionTime": old["lastTransitionTime"] if old is not None and same else now}
    status["conditions"] = (
        [new if other is old else other for other in kept] if old is not None else [*kept, new]
    )
    return result


def is_over(migration: Object) -> bool:
    """Return whether a migration has ended."""
    return condition(migration, SUCCEEDED) == "True" or condition(migration, FAILED) == "True"


def is_next(migration: Object, others: Iterable[Object]) -> bool:
    """Return whether no other migration of the same resource comes first."""

    def rank(candidate: Object) -> tuple[bool, str, str]:
        meta = candidate["metadata"]
        return condition(candidate, RUNNING) != "True", meta["creationTimestamp"], meta["name"]

    resource = migration["spec"]["resource"]
    rivals = [other for other in others if other["spec"]["resource"] == resource and not is_over(other)]
    return all(rank(migration) <= rank(rival) for rival in rivals)


def progress(left: int, total: int) -> str:
    """Return the condition of a running migration."""
    text = "The migration is running"
    if total and left:
        return f"{text}, {left}/{total} objects not yet migrated"
    return f"{text}, {total} objects verified migrated" if total else text


class StorageVersionMigrator(Controller):
    """Works on names of migrations."""

    name = "storage-version-migrator-controller"
    kind = STORAGE_VERSION_MIGRATIONS
    workers = 1

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        """Return whether a migration is still to be done; the end of one enqueues the others."""
        if new is None or is_over(new):
            for migration in self.objects.values():
                if not is_over(migration):
                    self.enqueue(migration["metadata"]["name"])
            return False
        return True

    def _now(self) -> str:
        return rfc3339.seconds(self.clock.now())

    async def reconcile(self, key: str) -> float | None:
        """Carry out a migration, from wherever it was left."""
        migration = self.objects.get(key)
        if migration is None or is_over(migration) or not is_next(migration, self.objects.values()):
            return None
        ref = await self._resource(migration)
        if ref is None:
            age = self.clock.now() - rfc3339.parse(migration["metadata"]["creationTimestamp"])
            if age < _PATIENCE_SECONDS:
                return _AGAIN_SECONDS
            await self._end(migration, None, "unable to obtain GVR from discovery")
            return None
        definition = await self._definition(ref)
        if condition(migration, RUNNING) != "True":
            migration = await self._begin(migration, ref, definition)
        try:
            await self._rewrite(migration, ref)
        except StatusError as error:
            if error.code in _PASSING:
                raise
            await self._end(migration, definition, str(error))
            return None
        await self._end(migration, definition, "")
        return None

    async def _resource(self, migration: Object) -> Ref | None:
        wanted = migration["spec"]["resource"]
        group = wanted.get("group", "")
        try:
            versions = ["v1"]
            if group:
                group_document = await self.client.call("GET", f"/apis/{group}")
                versions = [group_document["preferredVersion"]["groupVersion"]]
            for version in versions:
                for ref in await self.client.discover(version):
                    if ref.plural == wanted["resource"]:
                        return ref
        except NotFound:
            pass
        return None

    async def _definition(self, ref: Ref) -> Object | None:
        try:
            return await self.client.get(CUSTOM_RESOURCE_DEFINITIONS, f"{ref.plural}.{ref.group}")
        except NotFound:
            return None

    async def _begin(self, migration: Object, ref: Ref, definition: Object | None) -> Object:
        if definition is not None:
            text = f"Migration {migration['metadata']['name']} is running"
            await self._tell(definition, "True", "MigrationRunning", text)
        begun = with_condition(
            migration,
            self._now(),
            type=RUNNING,
            status="True",
            reason="MigrationRunning",
            message=progress(0, 0),
        )
        page = await self.client.list_page(ref, limit=1)
        begun["status"]["resourceVersion"] = page.resource_version
        return await self.client.update_status(STORAGE_VERSION_MIGRATIONS, begun)

    async def _rewrite(self, migration: Object, ref: Ref) -> None:
        checkpoint = int(migration["status"]["resourceVersion"])
        for obj in (await self.client.list(ref, metadata_only=True)).items:
            meta = obj["metadata"]
            if int(meta["resourceVersion"]) > checkpoint:
                continue  # written since, and so in the version of now
            patch = {
                "apiVersion": ref.api_version, "kind": ref.kind,
                "metadata": {"resourceVersion": meta["resourceVersion"]},
            }  # fmt: skip
            try:
                await self.client.patch(
                    ref, meta["name"], patch, meta.get("namespace", ""), manager=self.name
                )
            except (Conflict, NotFound):
                continue

    async def _end(self, migration: Object, definition: Object | None, problem: str) -> None:
        now = self._now()
        done = with_condition(
            migration,
            now,
            type=RUNNING,
            status="False",
            reason="MigrationCompleted",
            message="Migration completed",
        )
        if problem:
            done = with_condition(
                done, now, type=FAILED, status="True", reason="StorageVersionMigrationFailed", message=problem
            )
        else:
            done = with_condition(
                done, now, type=SUCCEEDED, status="True", reason="StorageVersionMigrationSucceeded",
                message="Migration completed",
            )  # fmt: skip
        if definition is not None:
            await self._finish(definition, not problem)
        await self.client.update_status(STORAGE_VERSION_MIGRATIONS, done)

    async def _finish(self, definition: Object, success: bool) -> None:
        """Remove the versions that nothing is stored in any more from the definition's status."""
        name = definition["metadata"]["name"]
        now = await self.client.get(CUSTOM_RESOURCE_DEFINITIONS, name)
        if not success:
            await self._tell(now, "False", "MigrationFailed", "The migration has failed")
            return
        storage = [version["name"] for version in now["spec"]["versions"] if version["storage"]]
        same = now["metadata"]["generation"] == definition["metadata"]["generation"]
        text = "The migration has succeeded" + (
            " and the stored versions have been updated"
            if same
            else " but the stored versions have not been updated due to a generation mismatch"
        )
        await self._tell(now, "False", "MigrationSucceeded", text, storage if same else None)

    async def _tell(
        self, definition: Object, status: str, reason: str, message: str, stored: list[str] | None = None
    ) -> None:
        new = with_condition(
            definition, self._now(), type=MIGRATING, status=status, reason=reason, message=message,
            observedGeneration=definition["metadata"].get("generation", 1),
        )  # fmt: skip
        if stored is not None:
            new["status"]["storedVersions"] = stored
        patch = {
            "metadata": {"resourceVersion": definition["metadata"]["resourceVersion"]},
            "status": new["status"],
        }
        name = definition["metadata"]["name"]
        await self.client.patch(
            CUSTOM_RESOURCE_DEFINITIONS, name, patch, subresource="status", manager=self.name
        )


CONTROLLER = Descriptor(
    name=StorageVersionMigrator.name,
    identity="storage-version-migrator-controller",
    build=lambda runtime, options: StorageVersionMigrator(runtime),
)
