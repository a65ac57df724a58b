"""What all drivers share: every read and watch is answered by the mirror, drivers add the writing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator, Iterable, Mapping
from pathlib import Path

from pybernetes.control_plane.store.mirror import Mirror
from pybernetes.control_plane.store.past import Past
from pybernetes.control_plane.store.protocol import (
    Check,
    Clock,
    Closed,
    Conflict,
    Damaged,
    DamagedRecord,
    HistoryLimits,
    NotFound,
    Page,
    Place,
    Record,
    SealedRecord,
    Sealing,
    Sink,
    SnapshotStatus,
    Stamp,
    Store,
    StoreError,
    Watch,
    accept,
    identity,
    steady,
    wall_clock,
)


class _Nothing:
    """What need not be waited for."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


_NOTHING = _Nothing()


class MirroredStore(Store):
    """A store whose visible state is a mirror in memory."""

    def __init__(
        self,
        *,
        sealing: Sealing | None = None,
        stamp: Stamp = identity,
        check: Check = accept,
        clock: Clock = wall_clock,
        history: HistoryLimits | None = None,
    ) -> None:
        self.sealing = sealing
        self.stamp = stamp
        self.check = check
        self.clock = clock
        self.mirror = Mirror(clock=steady(clock), history=history)
        # A write asks for ten prefixes whether something changed there: without a call in between.
        self.changed = self.mirror.changed  # type: ignore[method-assign]

    @property
    def revision(self) -> int:
        """The revision of the visible state."""
        return self.mirror.revision

    @property
    def compacted(self) -> int:
        """The oldest revision that can still be listed and watched from."""
        return self.mirror.compacted

    def get(self, key: str) -> Record | None:
        """Return the record of a key, or None."""
        record: Record | None = self.mirror.records.get(key)
        return record

    def list(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        """Return records under a prefix in key order, from `start` (inclusive), now or as of a revision."""
        return self.mirror.list(prefix, start=start, limit=limit, revision=revision)

    def past(self, prefix: str, *, start: str = "", limit: int = 0, revision: int) -> Past:
        """Return what a list of an older revision is made from, to be made wherever there is time for it."""
        return self.mirror.past(prefix, start, limit, revision)

    def damaged(self) -> Mapping[str, str]:
        """Return what is wrong with the records that cannot be read, by key."""
        return self.mirror.problems()

    def changed(self, prefix: str) -> int:
        """Return a revision that grows with every change under a prefix."""
        return self.mirror.changed(prefix)

    def place(self, directory: str) -> Place:
        """Return what knows when something last changed in a directory."""
        return self.mirror.place(directory)

    def count(self, prefix: str) -> int:
        """Return how many keys are under a prefix."""
        return self.mirror.count(prefix)

    def received(self) -> dict[str, int]:
        """Return how many changes came in, by the directory of their keys."""
        return self.mirror.received()

    def watch(self, prefix: str, revision: int, sink: Sink, *, closed: Closed | None = None) -> Watch:
        """Send every event after `revision` (0: from now) to `sink`."""
        return self.mirror.watch(prefix, revision, sink, closed)

    async def wait(self, revision: int, timeout: float) -> bool:
        """Wait until the visible state has reached a revision; False when the timeout passed first."""
        if revision <= self.mirror.revision:
            return True
        try:
            async with asyncio.timeout(timeout):
                return await self.mirror.reached(revision)
        except TimeoutError:
            return False

    def sync(self) -> Awaitable[None]:
        """Wait for nothing, since this process is the only writer."""
        return _NOTHING

    async def compact(self, revision: int) -> None:
        """Forget the history before a revision."""
        self.mirror.compact(revision)

    async def health(self, seconds: float = 2.0) -> None:
        """Raise Unavailable when reads or writes would fail."""

    async def space(self) -> None:
        """Raise NoSpace while writes are refused for want of room."""

    async def snapshot_save(self, path: Path) -> SnapshotStatus:
        """Refuse: drivers that keep nothing on a disk have nothing to save."""
        raise StoreError(f"{type(self).__name__} has nothing to save")

    def is_stale(self, record: Record) -> bool:
        """Return whether a record would be sealed otherwise if it were written now."""
        return self.sealing is not None and record.seal != self.sealing.current(record.key)

    async def unseal_again(self) -> int:
        """Try again what could not be unsealed."""
        records = self.mirror.records
        sealed = [
            record for key in self.mirror.problems() if isinstance(record := records[key], SealedRecord)
        ]
        if not sealed or self.sealing is None:
            return 0
        await self.sealing.prepare(record.stored for record in sealed)
        opened = []
        for record in sealed:
            again = self.checked_record(record.key, record.stored, record.revision, record.kept_until)
            if records.get(record.key) is record and not isinstance(again, SealedRecord):
                opened.append(again)
        self.take_unsealed(opened)
        return len(opened)

    def take_unsealed(self, records: Iterable[Record]) -> None:
        """Show records that could not be read before."""
        self.mirror.replace(records)

    def sealed(self, key: str, value: bytes) -> tuple[bytes, object]:
        """Return a value as it is to be stored, and what it is sealed with."""
        return (value, None) if self.sealing is None else self.sealing.seal(key, value)

    def record(
        self, key: str, value: bytes, revision: int, expires: float = 0.0, seal: object = None
    ) -> Record:
        """Return the record of a value that this process wrote."""
        try:
            return Record(key, self.stamp(value, revision), revision, expires, seal)
        except ValueError as error:
            return DamagedRecord(key, revision, str(error))

    def stored_record(self, key: str, stored: bytes, revision: int, expires: float = 0.0) -> Record:
        """Return the record of what is stored, if a checksum vouches for it."""
        if self.sealing is None:
            return self.record(key, stored, revision, expires)
        try:
            value, seal = self.sealing.unseal(key, stored)
        except ValueError as error:
            return SealedRecord(key, stored, revision, expires, str(error))
        return self.record(key, value, revision, expires, seal)

    def checked_record(self, key: str, stored: bytes, revision: int, expires: float = 0.0) -> Record:
        """Return the record of what is stored, if nobody vouches for it."""
        record = self.stored_record(key, stored, revision, expires)
        try:
            self.check(record.value)
        except Damaged:
            pass
        except ValueError as error:
            return DamagedRecord(key, revision, str(error))
        return record

    def expected(self, key: str, revision: int) -> Record:
        """Return the record of a key if it is at `revision` (0: any); NotFound or Conflict otherwise."""
        current: Record | None = self.mirror.records.get(key)
        if current is None:
            raise NotFound(key)
        if revision and current.revision != revision:
            raise Conflict(key, current)
        return current

    def end(self) -> None:
        """End every watch, as the last step of close()."""
        self.mirror.end_watches(None)
