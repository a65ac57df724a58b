"""Namespace: deletes everything in a namespace that is deleted, pods first, and then lets the namespace go.

What is left is known from the caches of all kinds, so that each object is asked to go once and nobody polls for its end.
Before a namespace is let go the server itself is asked whether anything is left.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.client.errors import Conflict, NotFound, StatusError
from pybernetes.client.refs import NAMESPACES, PODS, Ref
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._metadata.discovery import Served
from pybernetes.control_plane.controllers._metadata.monitors import Monitors
from pybernetes.control_plane.controllers.namespace import conditions
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import by_namespace
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

FINALIZER = "kubernetes"
_AT_ONCE = 10
# Counts in conditions are for people to read: no need to write each of them.
_STATUS_SECONDS = 5.0
_AGAIN_SECONDS = 15.0


@dataclass
class Progress:
    """What the controller remembers of a namespace while it goes."""

    since: float
    written: float = float("-inf")
    errors: list[str] = field(default_factory=list)


class NamespaceController(Controller):
    """Works on names of namespaces."""

    name = "namespace-controller"
    kind = NAMESPACES

    def __init__(self, runtime: Runtime, workers: int = 10, delay: float = 5.0) -> None:
        super().__init__(runtime)
        self.workers = workers
        self._delay = delay
        self._monitors = Monitors.of(runtime)
        self._going: dict[str, Progress] = {}

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is None or "deletionTimestamp" in new["metadata"]

    async def run(self) -> None:
        self._monitors.listen(self._changed)
        async with self._monitors.running():
            await super().run()

    async def prepare(self) -> None:
        await self._monitors.known()

    def _changed(self, ref: Ref, old: Object | None, new: Object | None) -> None:
        """Enqueue a namespace when its last object of a kind goes, or one comes too late."""
        if not self._going or (old is not None and new is not None):
            return
        namespace = (new or old)["metadata"].get("namespace", "")  # type: ignore[index]
        if namespace in self._going and (new is not None or not self._count(ref, namespace)):
            self.enqueue(namespace)

    async def reconcile(self, key: str) -> float | None:
        """Take the deletion of a namespace as far as possible now."""
        namespace = self.objects.get(key)
        if (
            namespace is None
            or "deletionTimestamp" not in namespace["metadata"]
            or FINALIZER not in (namespace.get("spec", {}).get("finalizers") or ())
        ):
            self._going.pop(key, None)
            return None
        progress = self._going.setdefault(key, Progress(self.clock.monotonic()))
        progress.errors = []
        left = await self._delete_content(key, progress)
        failures = self._monitors.discovered.failures
        if not left and not progress.errors:
            wait = progress.since + self._delay - self.clock.monotonic()
            if wait > 0:
                return wait
            failures = (await self._monitors.refresh()).failures
            left = await self._look(key, progress)
        if left or progress.errors or failures:
            return await self._report(namespace, progress, left, failures)
        await self._finalize(namespace)
        return None

    # -- content -----------------------------------------------------------------------------------------

    def _kinds(self) -> Iterable[Served]:
        preferred = self._monitors.discovered.preferred.values()
        return [served for served in preferred if served.ref.namespaced and served.can("delete")]

    async def _delete_content(self, key: str, progress: Progress) -> dict[Ref, list[Object]]:
        """Delete everything that is not deleted yet, pods first; return what is left."""
        pods = self._left(PODS, key)
        if pods:
            await self._delete_all(self._served(PODS), key, pods, progress)
            return {PODS: pods}
        left = {served.ref: self._left(served.ref, key) for served in self._kinds()}
        await _in_parallel(
            lambda served: self._delete_all(served, key, left[served.ref], progress),
            [
                served
                for served in self._kinds()
                if left[served.ref] or self._monitors.get(served.ref) is None
            ],
        )
        return {ref: objects for ref, objects in left.items() if objects}

    def _served(self, ref: Ref) -> Served:
        return self._monitors.discovered.preferred[ref.group, ref.plural]

    def _left(self, ref: Ref, key: str) -> list[Object]:
        informer = self._monitors.get(ref)
        return informer.find(by_namespace, key) if informer is not None else []

    def _count(self, ref: Ref, key: str) -> int:
        informer = self._monitors.get(ref)
        return informer.count(by_namespace, key) if informer is not None else 0

    async def _delete_all(self, served: Served, key: str, known: list[Object], progress: Progress) -> None:
        """Delete the objects of one kind, unless all known ones are being deleted already."""
        waiting = [obj for obj in known if "deletionTimestamp" not in obj["metadata"]]
        if known and not waiting:
            return
        try:
            # Dependents are in the same namespace and go as well: nobody is to be orphaned.
            if served.can("deletecollection"):
                await self.client.delete_collection(served.ref, key, propagation="Background")
                return
            if not known and served.can("list"):
                waiting = (await self.client.list(served.ref, key, metadata_only=True)).items
            for obj in waiting:
                await self._delete(served.ref, obj["metadata"]["name"], key)
        except NotFound:  # the kind itself is gone
            pass
        except StatusError as error:
            progress.errors.append(error.message)

    async def _delete(self, ref: Ref, name: str, namespace: str) -> None:
        try:
            await self.client.delete(ref, name, namespace, propagation="Background")
        except NotFound:
            pass

    async def _look(self, key: str, progress: Progress) -> dict[Ref, list[Object]]:
        """Ask the server for what is left; the caches may not have everything."""
        left: dict[Ref, list[Object]] = {}

        async def look(served: Served) -> None:
            try:
                page = await self.client.list_page(served.ref, key, limit=1, metadata_only=True)
            except NotFound:
                return
            except StatusError as error:
                progress.errors.append(error.message)
                return
            if page.items:
                left[served.ref] = page.items

        await _in_parallel(look, [served for served in self._kinds() if served.can("list")])
        return left

    # -- the namespace itself ----------------------------------------------------------------------------

    async def _report(
        self, namespace: Object, progress: Progress, left: dict[Ref, list[Object]], failures: dict[str, str]
    ) -> float:
        """Write into the status what the deletion waits for; return when to check again if nothing happens."""
        remaining = {f"{ref.plural}.{ref.group}": len(objects) for ref, objects in left.items()}
        finalizers = Counter(
            name
            for objects in left.values()
            for obj in objects
            for name in obj["metadata"].get("finalizers") or ()
        )
        problems = conditions.problems(failures, progress.errors, remaining, finalizers)
        status = namespace.get("status", {})
        old = status.get("conditions") or []
        new = conditions.conditions(old, problems, rfc3339.seconds(self.clock.now()))
        again = _AGAIN_SECONDS if not progress.errors else 1.0
        if new == old and status.get("phase") == "Terminating":
            return again
        wait = progress.written + _STATUS_SECONDS - self.clock.monotonic()
        if wait > 0:
            return min(wait, again)
        changed = copy(namespace)
        changed["status"] = {**status, "phase": "Terminating", "conditions": new}
        try:
            await self.client.update_status(NAMESPACES, changed)
        except NotFound:
            return again
        progress.written = self.clock.monotonic()
        return again

    async def _finalize(self, namespace: Object) -> None:
        """Remove this controller's finalizer, which ends the namespace unless there are others."""
        name = namespace["metadata"]["name"]
        others = [finalizer for finalizer in namespace["spec"]["finalizers"] if finalizer != FINALIZER]
        status = namespace.get("status", {})
        old = status.get("conditions") or []
        if old or others or namespace["metadata"].get("finalizers"):
            new = conditions.conditions(old, {}, rfc3339.seconds(self.clock.now()))
            if new != old:
                namespace = copy(namespace)
                namespace["status"] = {**status, "phase": "Terminating", "conditions": new}
                namespace = await self.client.update_status(NAMESPACES, namespace)
        changed = {**namespace, "spec": {**namespace["spec"], "finalizers": others}}
        try:
            await self.client.update(NAMESPACES, changed, subresource="finalize")
        except NotFound:
            pass
        except Conflict:
            live = await self.client.get(NAMESPACES, name)
            if live["metadata"]["uid"] != namespace["metadata"]["uid"]:
                return
            raise
        self._going.pop(name, None)


async def _in_parallel(work: Callable[[Served], Awaitable[None]], kinds: Iterable[Served]) -> None:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(served: Served) -> None:
        async with slots:
            await work(served)

    await asyncio.gather(*map(one, kinds))


CONTROLLER = Descriptor(
    name=NamespaceController.name,
    aliases=("namespace",),
    identity="namespace-controller",
    flags=(
        Flag("concurrent-namespace-syncs", 10, "how many namespaces are worked on at a time"),
        Flag("namespace-sync-period", Seconds(300), "accepted and not needed: nothing is synced by time"),
        Flag(
            "namespace-finalization-delay",
            Seconds(5),
            "how long a namespace is kept at least, so that other API servers know that it is going",
        ),
    ),
    build=lambda runtime, options: NamespaceController(
        runtime, options.concurrent_namespace_syncs, options.namespace_finalization_delay
    ),
)
