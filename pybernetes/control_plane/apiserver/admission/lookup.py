"""What plugins look up: stored objects, decoded once for each of their versions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib.memory.forgetting import on_forget

Derived = TypeVar("Derived")
# So many entries are kept before those of what is gone are swept out, and then twice as many as are left.
_SPARE = 256
# Of what is derived, so much is kept: it is quickly derived again.
_MOST = 1000


class Lookup:
    """The objects of one kind. They are shared: nobody may change them.

    Of kinds that are many and seldom looked at, ``keep=False`` keeps no decoded object.
    """

    def __init__(self, context: ServerContext, group: str, plural: str, *, keep: bool = True) -> None:
        self._store = context.store
        self.kind = context.kinds.find(group, plural)
        self._keep = keep
        self._kept: dict[str, tuple[Record, Object]] = {}
        self._lists: dict[str, tuple[int, tuple[Object, ...]]] = {}
        self._spare = self._spare_lists = _SPARE
        on_forget(self._forget)

    def get(self, namespace: str, name: str) -> Object | None:
        """Return an object, or None."""
        key = self.kind.key(namespace, name)
        record = self._store.get(key)
        if record is None:
            return None
        entry = self._kept.get(key)
        if entry is not None and entry[0] is record:
            return entry[1]
        obj = self.kind.shared(record)
        if self._keep:
            if len(self._kept) >= self._spare:
                self._sweep()
            self._kept[key] = (record, obj)
        return obj

    async def fresh(self, namespace: str, name: str) -> Object | None:
        """Return an object, or None when it is missing for sure, and not only yet unseen by this server."""
        obj = self.get(namespace, name)
        if obj is None and not self._store.local:
            await self._store.sync()
            obj = self.get(namespace, name)
        return obj

    async def appears(self, namespace: str, name: str, seconds: float) -> Object | None:
        """Return an object that somebody is about to make, or None when nobody did in time."""
        appeared = asyncio.Event()
        watch = self._store.watch(self.kind.key(namespace, name), 0, lambda events: appeared.set())
        try:
            obj = await self.fresh(namespace, name)
            if obj is None:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await appeared.wait()
                obj = self.get(namespace, name)
            return obj
        finally:
            watch.close()

    def all(self, namespace: str = "") -> tuple[Object, ...]:
        """Return all objects, or those of a namespace; the same tuple for as long as none of them changes."""
        prefix = self.kind.collection(namespace)
        changed = self._store.changed(prefix)
        entry = self._lists.get(namespace)
        if entry is not None and entry[0] == changed:
            return entry[1]
        objects = tuple(self.kind.shared(record) for record in self._store.list(prefix).records)
        if len(self._lists) >= self._spare_lists:
            # An empty list is quickly read again, and all that a deleted namespace has.
            self._lists = {name: known for name, known in self._lists.items() if known[1]}
            self._spare_lists = max(_SPARE, 2 * len(self._lists))
        self._lists[namespace] = (changed, objects)
        return objects

    def _forget(self) -> None:
        self._kept.clear()
        self._lists.clear()

    def _sweep(self) -> None:
        """Drop what is not stored any more, as deleted namespaces."""
        get = self._store.get
        self._kept = {key: entry for key, entry in self._kept.items() if get(key) is entry[0]}
        self._spare = max(_SPARE, 2 * len(self._kept))

    def all_objects(self, namespace: str = "") -> Iterator[Object]:
        """Return all objects, or those of a namespace, of which none is kept."""
        return map(self.kind.shared, self._store.list(self.kind.collection(namespace)).records)


class Remembered(Generic[Derived]):
    """What follows from an object or a list, computed once for each of them."""

    def __init__(self, compute: Callable[..., Derived]) -> None:
        self._compute = compute
        self._entries: dict[str, tuple[object, Derived]] = {}
        on_forget(self._forget)

    def _forget(self) -> None:
        self._entries.clear()

    def of(self, key: str, source: object) -> Derived:
        """Return what follows from the source that is now at the key."""
        entry = self._entries.get(key)
        if entry is not None and entry[0] is source:
            return entry[1]
        if len(self._entries) >= _MOST:
            del self._entries[next(iter(self._entries))]
        value = self._compute(source)
        self._entries[key] = (source, value)
        return value
