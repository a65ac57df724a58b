"""Group commit: one thread that writes everything which waits as one transaction.

The loop hands over the writes of each of its turns as one list; whatever gathers while a commit runs
goes into the next one. The revision is given by the thread, so that a failed commit uses up none.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from pybernetes.control_plane.store.drivers.sqlite import database
from pybernetes.control_plane.store.drivers.sqlite.reserve import Reserve, is_full, is_permitted
from pybernetes.control_plane.store.protocol import DamagedRecord, Event, NoSpace, Record, Unavailable

log = logging.getLogger(__name__)

# The log is moved into the file once it has about this size, or at rest.
LOG_BYTES = 8 << 20
REST_SECONDS = 1.0
# What a commit and a row add to the log beside the value: SQLite writes whole pages.
COMMIT_BYTES, ROW_BYTES = 3 * 4096, 2048


class Write:
    """One waiting change and who waits for it; a value of None deletes, a key of None only probes.

    ``value`` goes to the disk; ``plain`` is what readers see, and ``seal`` what lies between the two.
    """

    __slots__ = (
        "event", "expires", "future", "key", "others", "plain", "previous", "revision", "seal", "value",
    )  # fmt: skip

    def __init__(
        self, key: str | None, value: bytes | None, expires: float, previous: Record | None,
        plain: bytes | None = None, seal: object = None,
    ) -> None:  # fmt: skip
        self.key = key
        self.value = value
        self.plain, self.seal = plain, seal
        self.expires = expires
        self.previous = previous
        self.revision = 0
        self.event: Event | None = None  # set once the write is visible
        self.future: asyncio.Future[Event] = asyncio.get_running_loop().create_future()
        self.others: list[asyncio.Future[None]] = []  # writers of the same key, whose turn is next

    def settle(self, error: Exception | None) -> None:
        """Tell everyone who waits."""
        for other in self.others:
            if not other.done():
                other.set_result(None)
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        elif self.event is not None:
            self.future.set_result(self.event)


Writes = list[Write]


class Committer:
    """Owns the connection and the thread; calls `done(writes, error)` in the loop after each commit."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        revision: int,
        done: Callable[[Writes, Exception | None], None],
        reserve: Reserve,
    ) -> None:
        self.is_full = False  # for want of room, only what hardly needs any is written
        self._reserve = reserve
        self._connection = connection
        self._revision = revision
        self._done = done
        self._loop = asyncio.get_running_loop()
        self._gathered: Writes = []
        self._queue: SimpleQueue[Writes | None] = SimpleQueue()
        self._closed = False
        self._log_bytes = 1  # a log may be left over from before
        self._log_is_extended = False
        self._thread = threading.Thread(target=self._run, name="store-commit", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> None:
        """Take a write; all that come in one turn of the loop go to the thread together."""
        if self._closed:
            raise Unavailable("the store is closed")
        if not self._gathered:
            self._loop.call_soon(self._hand_over)
        self._gathered.append(write)

    async def close(self) -> None:
        """Finish what was submitted, then close the file."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._queue.put(None)
            # The thread queues its last call of `done` before it ends, so that one runs first.
            await self._loop.run_in_executor(None, self._thread.join)

    def _hand_over(self) -> None:
        if self._gathered:
            self._queue.put(self._gathered)
            self._gathered = []

    def _run(self) -> None:
        while True:
            try:
                waits = self._log_bytes or self.is_full
                writes = self._queue.get(timeout=REST_SECONDS if waits else None)
            except Empty:
                self._rest()
                continue
            last = False
            while writes is not None:
                try:
                    more = self._queue.get_nowait()
                except Empty:
                    break
                if more is None:
                    last = True
                    break
                writes += more
            if writes:
                self._commit(writes)
            if writes is None or last:
                break
        self._checkpoint()
        self._connection.close()

    def _rest(self) -> None:
        """Do the chores that are put off while somebody waits for a write."""
        if self._log_bytes:
            self._checkpoint()
            self._extend_log()
        self._look_for_room()

    def _look_for_room(self) -> None:
        """Take the reserve, again if it was given up: without it the disk counts as full."""
        has_room = self._reserve.make()
        if has_room == self.is_full:
            self.is_full = not has_room
            log.warning("the store has room again" if has_room else "the store has no room left")

    def _commit(self, writes: Writes) -> None:
        if self.is_full:
            self._look_for_room()
        failure = None if self.is_full else self._write(writes)
        if failure is not None and is_full(failure):
            self.is_full = True
            log.error("the store has no room left: only what needs none is written")
            self._reserve.release()
            self._checkpoint()
        if self.is_full:
            self._reserve.release()
            writes = self._refuse(writes)
            failure = self._write(writes) if writes else None
            if failure is not None and is_full(failure):
                self._checkpoint()  # once the log is in the file, there is room in the log
                failure = self._write(writes)
        if failure is not None:
            log.error("cannot write to the store: %s", failure)
            failure = NoSpace() if is_full(failure) else Unavailable(f"cannot write to the store: {failure}")
        self._loop.call_soon_threadsafe(self._done, writes, failure)
        if self._log_bytes >= LOG_BYTES:
            self._checkpoint()

    def _refuse(self, writes: Writes) -> Writes:
        """Answer those writes that need room; return the others."""
        free = self._reserve.free()
        permitted: Writes = []
        refused: Writes = []
        for write in writes:
            (permitted if write.key is None or _is_permitted(write, free) else refused).append(write)
        if refused:
            self._loop.call_soon_threadsafe(self._done, refused, NoSpace())
        return permitted

    def _write(self, writes: Writes) -> Exception | None:
        """Write a batch; return what went wrong, after which nothing has changed."""
        rows: list[database.Row] = []
        size = COMMIT_BYTES
        revision = self._revision
        for write in writes:
            if write.key is not None:
                revision += 1
                write.revision = revision
                size += ROW_BYTES + len(write.value or b"")
                rows.append((write.key, revision, write.value, write.expires))
        try:
            database.write(self._connection, rows, revision)
        except Exception as error:
            return error
        self._revision = revision
        self._log_bytes += size
        return None

    def _checkpoint(self) -> None:
        self._log_bytes = 0
        try:
            database.checkpoint(self._connection)
        except sqlite3.Error as error:
            # Nothing is lost: the log keeps what it has and grows until the next attempt.
            log.warning("cannot checkpoint the store: %s", error)

    def _extend_log(self) -> None:
        """Extend the log at the first rest, so that it delays nobody."""
        if not self._log_is_extended:
            try:
                database.extend_log(self._connection, LOG_BYTES)
                self._log_is_extended = True
            except OSError as error:
                log.warning("cannot extend the log of the store: %s", error)


def _is_permitted(write: Write, free: int) -> bool:
    previous = write.previous
    size = None if previous is None or isinstance(previous, DamagedRecord) else len(previous.value)
    return is_permitted(None if write.plain is None else len(write.plain), size, free)
