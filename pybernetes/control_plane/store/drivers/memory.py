"""Keeps everything in memory only: for tests and throw-away clusters."""

from __future__ import annotations

import argparse
from typing import Unpack

from pybernetes.control_plane.store.driver import Driver
from pybernetes.control_plane.store.expiry import Expiry
from pybernetes.control_plane.store.mirrored_store import MirroredStore
from pybernetes.control_plane.store.protocol import CommonOptions, Event, KeyExists, Record, Unavailable


class MemoryStore(MirroredStore):
    """A store whose writes are visible, and as durable as they will ever be, at once."""

    def __init__(self, **options: Unpack[CommonOptions]) -> None:
        super().__init__(**options)
        self._expiry = Expiry(self.clock, self.delete, self.get)
        self._open = False

    async def start(self) -> None:
        """Begin at revision 1, as an empty etcd does."""
        self.mirror.load([], 1)
        self._open = True

    async def close(self) -> None:
        """End every watch."""
        self._open = False
        self._expiry.close()
        self.end()

    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        """Write a new key; KeyExists when it is there."""
        if key in self.mirror.records:
            raise KeyExists(key)
        return self._put(key, value, ttl, None)

    async def update(self, key: str, value: bytes, revision: int, *, ttl: int = 0) -> Record:
        """Replace a value if the key is still at `revision`."""
        return self._put(key, value, ttl, self.expected(key, revision))

    async def delete(self, key: str, revision: int) -> Event:
        """Delete a key if it is still at `revision` (0: whatever it is)."""
        event = Event(self.mirror.revision + 1, key, None, self.expected(key, revision))
        self._apply(event)
        return event

    def _put(self, key: str, value: bytes, ttl: int, previous: Record | None) -> Record:
        revision = self.mirror.revision + 1
        # Nothing is kept, but what could not be written to a disk is not taken here either.
        _, seal = self.sealed(key, value)
        record = self.record(key, value, revision, self.clock() + ttl if ttl else 0.0, seal)
        self._apply(Event(revision, key, record, previous))
        if ttl:
            self._expiry.add(record)
        return record

    def _apply(self, event: Event) -> None:
        if not self._open:
            raise Unavailable("the store is not open")
        self.mirror.apply([event])


def open_store(arguments: argparse.Namespace, options: CommonOptions) -> MemoryStore:
    """Make a store in memory."""
    return MemoryStore(**options)


DRIVER = Driver("memory", open_store)
