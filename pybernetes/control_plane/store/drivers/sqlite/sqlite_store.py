"""The embedded store: one SQLite file in a data directory, the default.

A write is checked against the visible state, handed to the commit thread, and becomes visible (and is
answered) once its transaction is on the disk. A second write to the same key waits for the first one,
so nothing is ever decided on a state that might still fail to become durable.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Unpack

from pybernetes.control_plane.store.drivers.sqlite import (
    data_directory,
    database,
    directory_lock,
    snapshot_file,
)
from pybernetes.control_plane.store.drivers.sqlite.committer import Committer, Write, Writes
from pybernetes.control_plane.store.drivers.sqlite.opening import open_database
from pybernetes.control_plane.store.drivers.sqlite.reserve import Reserve
from pybernetes.control_plane.store.expiry import Expiry
from pybernetes.control_plane.store.mirrored_store import MirroredStore
from pybernetes.control_plane.store.protocol import (
    CommonOptions,
    DamagedRecord,
    Event,
    KeyExists,
    NoSpace,
    Record,
    SnapshotStatus,
    StoreError,
    Unavailable,
)

log = logging.getLogger(__name__)


class SqliteStore(MirroredStore):
    """A store in one file, written by this process only."""

    def __init__(self, data_dir: str | os.PathLike[str], **options: Unpack[CommonOptions]) -> None:
        super().__init__(**options)
        self.directory = Path(data_dir)
        self._expiry = Expiry(self.clock, self.delete, self.get)
        self._committer: Committer | None = None
        self._lock: int | None = None
        self._pending: dict[str, Write] = {}
        self._failed = False
        self._reserve = Reserve(self.directory)
        self._unnamed: dict[str, str] = {}  # damaged rows whose key is lost

    @property
    def path(self) -> Path:
        """The file that holds the data."""
        return self.directory / database.FILE_NAME

    async def start(self) -> None:
        """Lock the directory, load the file and start the commit thread."""
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._reserve.release_if_full()
            self._lock = directory_lock.acquire(self.directory)
        except OSError as error:
            raise StoreError(f"cannot use {self.directory}: {error.strerror}") from error
        try:
            data_directory.expect_store(self.directory)
            opened = open_database(self.path, self._check_value)
            data_directory.note_store(self.directory)
        except OSError as error:
            self._unlock()
            raise StoreError(f"cannot use {self.directory}: {error.strerror}") from error
        except StoreError:
            self._unlock()
            raise
        if self.sealing is not None:
            await self.sealing.prepare(stored for _, _, stored, _ in opened.rows if stored is not None)
        # What is damaged comes first: a good row with the same key wins.
        records: list[Record] = []
        for row in opened.damaged:
            log.error("%s is damaged: %s", row.name, row.problem)
            if row.key is None or not row.key.startswith("/"):
                self._unnamed[row.name] = row.problem
            else:
                records.append(DamagedRecord(row.key, row.revision, row.problem))
        for key, changed, stored, expires in opened.rows:
            assert stored is not None
            records.append(self.stored_record(key, stored, changed, expires))
        self.mirror.load(records, opened.revision)
        self._committer = Committer(opened.connection, opened.revision, self._committed, self._reserve)
        for record in records:
            if record.expires:
                self._expiry.add(record)

    def _check_value(self, value: bytes) -> None:
        self.check(self.stamp(value, 0))

    def damaged(self) -> Mapping[str, str]:
        """Return what is wrong with the records that cannot be read, by key; rows without one by their number."""
        return {**self._unnamed, **super().damaged()}

    def take_unsealed(self, records: Iterable[Record]) -> None:
        """Show records that could not be read before, and let them go when their time comes."""
        opened = list(records)
        super().take_unsealed(opened)
        for record in opened:
            if record.expires:
                self._expiry.add(record)

    async def close(self) -> None:
        """Finish pending writes, end every watch and unlock the directory."""
        self._expiry.close()
        if self._committer is not None:
            await self._committer.close()
            self._committer = None
        self._unlock()
        self.end()

    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        """Write a new key; KeyExists when it is there."""
        if key in self._pending:
            await self._turn(key)
        if key in self.mirror.records:
            raise KeyExists(key)
        return _record_of(await self._put(key, value, ttl, None))

    async def update(self, key: str, value: bytes, revision: int, *, ttl: int = 0) -> Record:
        """Replace a value if the key is still at `revision`."""
        if key in self._pending:
            await self._turn(key)
        return _record_of(await self._put(key, value, ttl, self.expected(key, revision)))

    async def delete(self, key: str, revision: int) -> Event:
        """Delete a key if it is still at `revision` (0: whatever it is)."""
        if key in self._pending:
            await self._turn(key)
        return await self._submit(Write(key, None, 0.0, self.expected(key, revision)))

    async def health(self, seconds: float = 2.0) -> None:
        """Raise Unavailable when writing fails; after a failure this tries for itself."""
        if self._failed or self._committer is None:
            await self._submit(Write(None, None, 0.0, None))

    async def space(self) -> None:
        """Raise NoSpace while there is no room; asking looks for it."""
        if self._committer is not None and self._committer.is_full:
            await self._submit(Write(None, None, 0.0, None))
            if self._committer.is_full:
                raise NoSpace

    async def snapshot_save(self, path: Path) -> SnapshotStatus:
        """Copy the file as of now to a new file, while writes go on."""
        return await asyncio.get_running_loop().run_in_executor(None, snapshot_file.save, self.path, path)

    def _put(self, key: str, value: bytes, ttl: int, previous: Record | None) -> asyncio.Future[Event]:
        if not key.isascii():
            key.encode()  # what cannot be written raises here, not in a batch with others
        stored, seal = self.sealed(key, value)
        write = Write(key, stored, self.clock() + ttl if ttl else 0.0, previous, value, seal)
        return self._submit(write)

    async def _turn(self, key: str) -> None:
        """Wait until no other write of a key is under way."""
        while (write := self._pending.get(key)) is not None:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            write.others.append(waiter)
            await waiter

    def _submit(self, write: Write) -> asyncio.Future[Event]:
        if self._committer is None:
            raise Unavailable("the store is not open")
        self._committer.submit(write)
        if write.key is not None:
            self._pending[write.key] = write
        return write.future

    def _committed(self, writes: Writes, error: Exception | None) -> None:
        """Make a committed batch visible; after a failure, nothing has changed."""
        self._failed = error is not None and not isinstance(error, NoSpace)
        events: list[Event] = []
        for write in writes:
            key, value, revision = write.key, write.plain, write.revision
            if key is None:
                write.event = Event(revision, "", None, None)
                continue
            del self._pending[key]
            if error is None:
                record = None
                if value is not None:
                    record = self.record(key, value, revision, write.expires, write.seal)
                write.event = Event(revision, key, record, write.previous)
                events.append(write.event)
        if events:
            self.mirror.apply(events)
        for event in events:
            if event.record is not None and event.record.expires:
                self._expiry.add(event.record)
        for write in writes:
            write.settle(error)

    def _unlock(self) -> None:
        if self._lock is not None:
            directory_lock.release(self._lock)
            self._lock = None


def _record_of(event: Event) -> Record:
    assert event.record is not None
    return event.record
