"""The one way to change a stored object: compare and swap.

``modify`` reads what is at a key, asks a function what is to become of it, and writes that if nobody else changed the key
meanwhile; otherwise it starts again with what is there now. ``transact`` is the same for callers that do something around
the write, such as holding what it took from a pool; ``create_record`` is for what is new and must not exist. Nothing else
of the API server writes to the store.

Each coroutine that waits for another one is paid for by every write, so that there are few here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum
from typing import Any, TypeVar

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.store.protocol import (
    Conflict,
    DamagedRecord,
    Event,
    KeyExists,
    NotFound,
    Record,
    Store,
    Unavailable,
)
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.event_loop.off_loop import LARGE

Result = TypeVar("Result")
_TRIES = 32
# No object grows beyond this by one patch after the other: twice what etcd takes, whose objects are mostly not JSON.
_MOST_BYTES = 3 << 20


class Outcome(Enum):
    """What is to become of an object that is not to be replaced."""

    KEEP = "keep"
    DELETE = "delete"


KEEP, DELETE = Outcome.KEEP, Outcome.DELETE
# Gets the object, which it may change, or None if there is none; gives the object to store, KEEP or DELETE.
Change = Callable[[Object | None], "Object | Outcome"]


class Overtaken(Exception):
    """Another writer was faster: the attempt is to be made again with what is there now."""


class Transaction:
    """One attempt to change what is at a key. ``record`` is what was there, None if nothing was."""

    __slots__ = ("_store", "has_begun", "key", "kind", "record")

    def __init__(self, store: Store, kind: Kind, key: str, record: Record | None) -> None:
        self._store, self.kind, self.key, self.record = store, kind, key, record
        self.has_begun = False  # to write, which compares with what is there now

    def object(self) -> Object | None:
        """Return the object, decoded anew, or None."""
        return None if self.record is None else self.kind.object(self.record)

    def write(self, obj: Object, size: int = 0) -> Coroutine[Any, Any, Record]:
        """Store the object, which was made from so many bytes; Overtaken if somebody else wrote to the key meanwhile."""
        self.has_begun = True
        return _store(self._store, self.kind, self.key, obj, self.record, size)

    async def delete(self) -> Event | None:
        """Delete the object; Overtaken if somebody else wrote to the key meanwhile."""
        if self.record is None:
            return None
        self.has_begun = True
        try:
            return await self._store.delete(self.key, self.record.revision)
        except (Conflict, NotFound):
            raise Overtaken from None


async def _store(store: Store, kind: Kind, key: str, obj: Object, before: Record | None, size: int) -> Record:
    """Store an object in the place of what was there; Overtaken if that is not there any more."""
    if kind.awaits_webhook:
        value = await kind.encode(obj)
    else:
        value = kind.stored_form(obj) if size <= LARGE else await off_loop.run(size, kind.stored_form, obj)
    # What is larger already may shrink.
    if len(value) > _MOST_BYTES and (before is None or len(value) > len(before.value)):
        raise errors.too_large(f"limit is {_MOST_BYTES}")
    ttl = kind.resource.ttl
    try:
        if before is None:
            record = await store.create(key, value, ttl=ttl)
        else:
            record = await store.update(key, value, before.revision, ttl=ttl)
    except (Conflict, KeyExists, NotFound):
        raise Overtaken from None
    if kind.awaits_webhook:
        await kind.convert((record,))
    return record


async def create_record(store: Store, kind: Kind, key: str, obj: Object, size: int = 0) -> Record:
    """Store a new object, which was made from so many bytes; KeyExists if there is one at the key."""
    try:
        return await _store(store, kind, key, obj, None, size)
    except Overtaken:
        raise KeyExists(key) from None


async def transact(
    store: Store, kind: Kind, key: str, attempt: Callable[[Transaction], Awaitable[Result]]
) -> Result:
    """Return the result of the first attempt that was not overtaken by another writer.

    An attempt that was overtaken is made again, with what is there then; 409 if that happens too often. The first one takes
    what is in memory, even if other API servers write to the store too: a write compares anyway. What ends without one, by an
    error or because there is nothing to do, counts only if memory had the newest.
    """
    is_newest = store.local
    for _ in range(_TRIES):
        record = store.get(key)
        if record is not None and kind.awaits_webhook and not isinstance(record, DamagedRecord):
            await kind.convert((record,))
        transaction = Transaction(store, kind, key, record)
        try:
            result = await attempt(transaction)
        except Overtaken:
            is_newest = store.local
            continue
        except Unavailable:
            raise
        except Exception:
            if is_newest or transaction.has_begun or await _is_newest(store, key, record):
                raise
        else:
            if is_newest or transaction.has_begun or await _is_newest(store, key, record):
                return result
        is_newest = True
    raise errors.modified(kind.resource.group, kind.resource.plural, key.rpartition("/")[2])


async def _is_newest(store: Store, key: str, record: Record | None) -> bool:
    await store.sync()
    return store.get(key) is record


def modify(store: Store, kind: Kind, key: str, change: Change) -> Coroutine[Any, Any, Record | None]:
    """Change, make or delete the object at a key; return its record, or None if there is none now."""

    async def attempt(transaction: Transaction) -> Record | None:
        record = transaction.record
        size = 0 if record is None else len(record.value)
        obj = transaction.object() if size <= LARGE else await off_loop.run(size, transaction.object)
        wanted = change(obj)
        if wanted is KEEP:
            return record
        if wanted is DELETE:
            await transaction.delete()
            return None
        assert not isinstance(wanted, Outcome)
        return await transaction.write(wanted, size)

    return transact(store, kind, key, attempt)
