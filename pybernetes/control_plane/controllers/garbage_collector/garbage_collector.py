"""Garbage collector: deletes what has lost its owners, of whatever kind.

The graph of owners and dependents is in the caches: an owner is found by its kind and name, its dependents by one index
of all caches over the owners' uids. An owner that no cache has is asked for at the server once, then known to be absent.
"""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import Ref
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._metadata.any_kind_controller import AnyKindController
from pybernetes.control_plane.controllers._metadata.monitors import Monitors
from pybernetes.control_plane.controllers.garbage_collector import ownership
from pybernetes.control_plane.controllers.garbage_collector.ownership import ABSENT, FOREGROUND, ORPHAN, SOLID
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.flags import Flag
from pybernetes.lib.memory.forgetting import on_forget
from pybernetes.runtime.cache import key_of, split_key
from pybernetes.runtime.runtime import Runtime

log = logging.getLogger(__name__)
_ABSENT_OWNERS = 10_000
_AT_ONCE = 50
_TRIES = 5


class Item(NamedTuple):
    """An object: its kind, its key there, and its uid, so that a successor of the same name is not meant."""

    ref: Ref
    key: str
    uid: str


class Unresolved(Exception):
    """An owner is of a kind that the server does not have (yet)."""


class NamespacedOwner(Exception):
    """An object without a namespace names an owner that is in one: it is left alone."""


class _Uids:
    """The uids of all objects of a kind, collected once for all owners that an object names."""

    def __init__(self, monitors: Monitors) -> None:
        self._monitors = monitors
        self._known: dict[Ref, frozenset[str]] = {}

    def of(self, kind: Ref) -> frozenset[str]:
        """Return the uids of a kind, as of the first time that it was asked for."""
        known = self._known.get(kind)
        if known is None:
            objects = self._monitors.get(kind) or ()
            known = self._known[kind] = frozenset(obj["metadata"]["uid"] for obj in objects)
        return known


class GarbageCollector(AnyKindController):
    """Its keys name objects of any kind."""

    name = "garbage-collector-controller"
    without = "collecting garbage of the others"

    def __init__(self, runtime: Runtime, workers: int = 20) -> None:
        super().__init__(runtime)
        self.workers = workers
        self._recorder = runtime.recorder(self.name)
        self._refs: dict[str, Ref] = {}
        self._absent: dict[tuple[Ref, str, str], None] = {}
        on_forget(self._forget_absent)
        self._unresolved: dict[str, None] = {}
        self._ready = False

    async def run(self) -> None:
        self.monitors.listen_to_kinds(self._kinds_changed)
        await super().run()

    async def prepare(self) -> None:
        """Check every object once the caches are filled; before that most owners would be unknown."""
        await super().prepare()
        self._ready = True
        for ref, informer in self.monitors:
            for obj in informer.values():
                self.changed(ref, None, obj)

    # -- changes become keys -----------------------------------------------------------------------------

    def _add(self, ref: Ref, obj: Object) -> None:
        self._refs[str(ref)] = ref
        self.enqueue(f"{ref} {key_of(obj)} {obj['metadata']['uid']}")

    def _kinds_changed(self) -> None:
        unresolved, self._unresolved = self._unresolved, {}
        for key in unresolved:
            self.enqueue(key)

    def changed(self, ref: Ref, old: Object | None, new: Object | None) -> None:
        if not self._ready:
            return
        if new is None:
            self._gone(ref, old)  # type: ignore[arg-type]
            return
        before: Object = old["metadata"] if old is not None else {}
        after = new["metadata"]
        had, has = before.get("ownerReferences") or (), after.get("ownerReferences") or ()
        if had != has:
            namespace = after.get("namespace", "")
            for reference in ownership.unblocked(had, has):
                self._add_waiting_owner(reference, namespace)
            if any(self._seen(reference, namespace) != SOLID for reference in has):
                self._add(ref, new)
        if ownership.is_being_deleted(after):
            foreground = ownership.waits_for_dependents(after)
            if foreground and not ownership.waits_for_dependents(before):
                self._add(ref, new)
                for kind, dependent in self.monitors.dependents(after["uid"]):
                    self._add(kind, dependent)
            elif ownership.waits_for_orphaning(after) and not ownership.waits_for_orphaning(before):
                self._add(ref, new)

    def _gone(self, ref: Ref, obj: Object) -> None:
        meta = obj["metadata"]
        first = True
        for kind, dependent in self.monitors.dependents(meta["uid"]):
            if first:
                self._remember_absent((ref, key_of(obj), meta["uid"]))
                first = False
            self._add(kind, dependent)
        for reference in meta.get("ownerReferences") or ():
            self._add_waiting_owner(reference, meta.get("namespace", ""))

    def _add_waiting_owner(self, reference: Object, namespace: str) -> None:
        """Enqueue the owners for which a dependent is gone or no longer blocks deletion."""
        item = self._cached_owner(reference, namespace)
        if item is not None and ownership.waits_for_dependents(item[1]["metadata"]):
            self._add(*item)

    # -- the graph ---------------------------------------------------------------------------------------

    def _cached_owner(self, reference: Object, namespace: str) -> tuple[Ref, Object] | None:
        served = self.monitors.discovered.find(reference["apiVersion"], reference["kind"])
        informer = self.monitors.get(served.ref) if served is not None else None
        if served is None or informer is None:
            return None
        obj = informer.get(f"{namespace}/{reference['name']}" if served.ref.namespaced else reference["name"])
        return (served.ref, obj) if obj is not None and obj["metadata"]["uid"] == reference["uid"] else None

    def _seen(self, reference: Object, namespace: str) -> str | None:
        """Return the state of an owner by the caches alone; None if they do not have it."""
        owner = self._cached_owner(reference, namespace)
        return ownership.state_of(owner[1]["metadata"]) if owner is not None else None

    async def _states(self, ref: Ref, obj: Object) -> list[str]:
        """Return the states of an object's owners, of which it may name thousands."""
        pace, uids = off_loop.Pace(), _Uids(self.monitors)
        states = []
        for reference in obj["metadata"]["ownerReferences"]:
            states.append(await self._state(reference, ref, obj, uids))
            await pace()
        return states

    async def _state(self, reference: Object, ref: Ref, obj: Object, uids: _Uids) -> str:
        """Return the state of an owner; the server is asked if no cache has it."""
        namespace = obj["metadata"].get("namespace", "")
        seen = self._seen(reference, namespace)
        if seen is not None:
            return seen
        served = self.monitors.discovered.find(reference["apiVersion"], reference["kind"])
        if served is None:
            raise Unresolved
        name, kind = reference["name"], served.ref
        self._report_other_namespace(reference, kind, ref, obj, uids)
        if kind.namespaced and not namespace:
            raise NamespacedOwner
        owner = (kind, f"{namespace}/{name}" if kind.namespaced else name, reference["uid"])
        if owner in self._absent:
            return ABSENT
        try:
            live = await self.client.get(kind, name, namespace if kind.namespaced else "")
            if live["metadata"]["uid"] == reference["uid"]:
                return ownership.state_of(live["metadata"])
        except NotFound:
            pass
        self._remember_absent(owner)
        return ABSENT

    def _forget_absent(self) -> None:
        self._absent.clear()

    def _remember_absent(self, owner: tuple[Ref, str, str]) -> None:
        """Remember an absent owner; uids never come back, so this can only grow too large, not wrong."""
        self._absent[owner] = None
        if len(self._absent) > _ABSENT_OWNERS:
            del self._absent[next(iter(self._absent))]

    def _report_other_namespace(
        self, reference: Object, kind: Ref, ref: Ref, obj: Object, uids: _Uids
    ) -> None:
        """Report an owner that exists, but not in the namespace of the object."""
        namespace = obj["metadata"].get("namespace", "")
        if not kind.namespaced:
            return
        place = (kind, f"{namespace}/{reference['name']}", reference["uid"])
        if namespace and place in self._absent:
            return
        if reference["uid"] in uids.of(kind):
            owner = (
                f"[{reference['apiVersion']}/{reference['kind']}, namespace: {namespace}, "
                f"name: {reference['name']}, uid: {reference['uid']}]"
            )
            about = {"kind": ref.kind, "apiVersion": ref.api_version, "metadata": obj["metadata"]}
            message = f'ownerRef {owner} does not exist in namespace "{namespace}"'
            self._recorder.warning(about, "OwnerRefInvalidNamespace", message)

    # -- one object --------------------------------------------------------------------------------------

    async def reconcile(self, key: str) -> None:
        """Delete an object, change its metadata, or leave it alone."""
        kind, place, uid = key.split(" ")
        ref = self._refs[kind]
        informer = self.monitors.get(ref)
        obj = informer.get(place) if informer is not None else None
        if obj is None or obj["metadata"]["uid"] != uid:
            return
        item = Item(ref, place, uid)
        meta = obj["metadata"]
        action = ownership.begin(meta)
        if action is None:
            try:
                states = await self._states(ref, obj)
            except Unresolved:
                self._unresolved[key] = None
                return
            except NamespacedOwner:
                return
            dependents = (dependent["metadata"] for _, dependent in self.monitors.dependents(uid))
            action = ownership.decide(meta, states, dependents)
        await self._apply(item, meta, action)

    async def _apply(self, item: Item, meta: Object, action: ownership.Action) -> None:
        if action is ownership.ORPHAN_DEPENDENTS:
            await self._orphan(item, meta)
        elif action is ownership.DELETE_DEPENDENTS:
            await self._delete_dependents(item, meta)
        elif action.what == "unlink":
            await self._edit(item, meta, lambda meta: ownership.without_owners(meta, action.owners))
        elif action.what == "delete":
            if action.unblock:
                await self._edit(item, meta, ownership.without_blocking)
            await self._delete(item, meta, action.policy)

    async def _orphan(self, item: Item, meta: Object) -> None:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def release(ref: Ref, obj: Object) -> None:
            async with slots:
                dependent = Item(ref, key_of(obj), obj["metadata"]["uid"])
                await self._edit(
                    dependent, obj["metadata"], lambda meta: ownership.without_owners(meta, (item.uid,))
                )

        await asyncio.gather(*(release(*dependent) for dependent in self.monitors.dependents(item.uid)))
        await self._edit(item, meta, lambda meta: ownership.without_finalizer(meta, ORPHAN))

    async def _delete_dependents(self, item: Item, meta: Object) -> None:
        blocking = [
            (ref, obj)
            for ref, obj in self.monitors.dependents(item.uid)
            if ownership.blocks(obj["metadata"], item.uid)
        ]
        if not blocking:
            await self._edit(item, meta, lambda meta: ownership.without_finalizer(meta, FOREGROUND))
        for ref, obj in blocking:
            if not ownership.waits_for_dependents(obj["metadata"]):
                self._add(ref, obj)

    # -- writing -----------------------------------------------------------------------------------------

    async def _live(self, item: Item) -> Object | None:
        """Return the metadata that the server has; None if the object is gone."""
        namespace, name = split_key(item.key)
        try:
            meta = (await self.client.get(item.ref, name, namespace))["metadata"]
        except NotFound:
            return None
        return meta if meta["uid"] == item.uid else None

    async def _edit(self, item: Item, meta: Object, change: Callable[[Object], Object | None]) -> None:
        """Change metadata, based on the cache or, if that is stale, on what the server has."""
        namespace, name = split_key(item.key)

        def patch(current: Object) -> Awaitable[object] | None:
            changes = change(current)
            if changes is None:
                return None
            precondition = {"resourceVersion": current["resourceVersion"], "uid": item.uid}
            return self.client.patch(item.ref, name, {"metadata": {**precondition, **changes}}, namespace)

        await self._write(item, meta, patch)

    async def _delete(self, item: Item, meta: Object, policy: str) -> None:
        """Delete the object unless its owners have changed since they were checked."""
        namespace, name = split_key(item.key)

        def delete(current: Object) -> Awaitable[object] | None:
            if _owners(current) != _owners(meta):
                return None  # the change will come back as an event
            return self.client.delete(
                item.ref, name, namespace, uid=item.uid, resource_version=current["resourceVersion"],
                propagation=policy,
            )  # fmt: skip

        await self._write(item, meta, delete)

    async def _write(
        self, item: Item, meta: Object, write: Callable[[Object], Awaitable[object] | None]
    ) -> None:
        """Write based on metadata that is current; after a conflict, on what the server has by then."""
        current: Object | None = meta
        for attempt in range(_TRIES):
            if current is None or (answer := write(current)) is None:
                return
            try:
                await answer
                return
            except NotFound:
                return
            except Conflict:
                if attempt == _TRIES - 1:
                    raise
            current = await self._live(item)


def _owners(meta: Object) -> list[str]:
    return [reference["uid"] for reference in meta.get("ownerReferences") or ()]


def build(runtime: Runtime, options: Namespace) -> GarbageCollector | None:
    """Build the controller; return None if it is switched off."""
    if not options.enable_garbage_collector:
        return None
    return GarbageCollector(runtime, options.concurrent_gc_syncs)


CONTROLLER = Descriptor(
    name=GarbageCollector.name,
    aliases=("garbagecollector",),
    identity="generic-garbage-collector",
    flags=(
        Flag("enable-garbage-collector", True, "delete what has lost its owners"),
        Flag("concurrent-gc-syncs", 20, "how many objects are worked on at a time"),
    ),
    build=build,
)
