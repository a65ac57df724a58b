"""Keeps the data in an etcd v3 cluster, which other API servers may share.

Reads are answered from a mirror that follows etcd; a write is a transaction that compares the key's
revision, and returns once the mirror has seen it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Any, Unpack

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd import snapshot
from pybernetes.control_plane.store.drivers.etcd.client import CALL_SECONDS, Endpoint, EtcdClient, Rejected
from pybernetes.control_plane.store.drivers.etcd.feed import EtcdFeed
from pybernetes.control_plane.store.drivers.etcd.head_reads import HeadReads
from pybernetes.control_plane.store.drivers.etcd.leases import Leases
from pybernetes.control_plane.store.mirrored_store import MirroredStore
from pybernetes.control_plane.store.protocol import (
    CommonOptions,
    Conflict,
    Event,
    FutureRevision,
    KeyExists,
    NoSpace,
    NotFound,
    Record,
    SnapshotStatus,
    Unavailable,
)
from pybernetes.lib.grpc.channel import StatusCode
from pybernetes.lib.http.dialer import Dialer, direct

START_SECONDS = 30.0
HEALTH_SECONDS = 2.0
# How long an event may be under way before we ask etcd for it, and before we doubt the connection.
PATIENCE_SECONDS = 0.05
SILENCE_SECONDS = 2.0


# A value that was given to us, and what it was sealed with.
_Content = tuple[bytes, object]


def _txn(endpoint: Endpoint) -> Any:
    return endpoint.kv.Txn


class EtcdStore(MirroredStore):
    """A store in an etcd cluster."""

    local = False

    def __init__(
        self,
        servers: Sequence[str],
        *,
        prefix: str = "/registry",
        cafile: str | None = None,
        certfile: str | None = None,
        keyfile: str | None = None,
        dialer: Dialer = direct,
        **options: Unpack[CommonOptions],
    ) -> None:
        super().__init__(**options)
        self._prefix = prefix.rstrip("/") + "/"
        self._barrier = self._prefix + "pybernetes/barrier"
        self._tls = {"cafile": cafile, "certfile": certfile, "keyfile": keyfile}
        self._servers, self._dialer = list(servers), dialer
        self._client: EtcdClient | None = None
        self._feed: EtcdFeed | None = None
        self._leases: Leases | None = None
        self._own: dict[
            int, tuple[str, _Content | None]
        ] = {}  # what we wrote at a revision, until it is seen
        self._transactions = 0  # under way
        self._reads: HeadReads | None = None
        self._nudging = asyncio.Lock()

    @property
    def client(self) -> EtcdClient:
        """The connection; Unavailable before start() and after close()."""
        if self._client is None:
            raise Unavailable("the store is not open")
        return self._client

    @property
    def reads(self) -> HeadReads:
        """Reads of the revision; Unavailable before start()."""
        if self._reads is None:
            raise Unavailable("the store is not open")
        return self._reads

    async def start(self) -> None:
        """Connect, read everything and follow."""
        self._client = EtcdClient(self._servers, dialer=self._dialer, **self._tls)
        self._leases = Leases(self._client)
        self._reads = HeadReads(self._client, self._barrier.encode())
        self._feed = EtcdFeed(
            self._client, self.mirror, self._prefix, self._received, self._barrier, self._prepare
        )
        try:
            await self._feed.start(START_SECONDS)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End every watch and close the connections."""
        if self._feed is not None:
            await self._feed.close()
        if self._reads is not None:
            self._reads.close()
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()
        self.end()

    async def _prepare(self, pairs: Iterable[Any]) -> None:
        """Fetch what is needed to unseal what etcd sent."""
        if self.sealing is not None:
            await self.sealing.prepare(pair.value for pair in pairs)

    # --- writing

    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        """Write a new key; KeyExists when it is there."""
        stored, seal = self.sealed(key, value)
        content = value, seal
        revision, current, repeated = await self._put(key, self._is(key, 0), stored, content, ttl)
        if not revision and current is not None:
            if not repeated or current.value != stored:
                raise KeyExists(key)
            revision = current.mod_revision
        return self._written(key, content, revision)

    async def update(self, key: str, value: bytes, revision: int, *, ttl: int = 0) -> Record:
        """Replace a value if the key is still at `revision`."""
        stored, seal = self.sealed(key, value)
        content = value, seal
        compare = self._is(key, revision) if revision else self._exists(key)
        written, current, repeated = await self._put(key, compare, stored, content, ttl)
        if not written:
            if current is None:
                raise NotFound(key)
            if not repeated or current.value != stored:
                raise Conflict(key, self._seen(current))
            written = current.mod_revision
        return self._written(key, content, written)

    async def delete(self, key: str, revision: int) -> Event:
        """Delete a key if it is still at `revision` (0: whatever it is)."""
        deletion = rpc.RequestOp(request_delete_range=rpc.DeleteRangeRequest(key=key.encode()))
        before = self.get(key)
        compare = self._is(key, revision) if revision else self._exists(key)
        deleted, current, repeated = await self._transact(key, compare, deletion, None)
        event = self.mirror.last_event(key)
        if not deleted:
            if current is not None:
                raise Conflict(key, self._seen(current))
            # Gone after a failed attempt of ours: that is what was asked for.
            if not repeated or event is None or event.record is not None:
                raise NotFound(key)
        if event is None or event.record is not None or (deleted and event.revision != deleted):
            event = Event(deleted, key, None, before)
        return event

    async def _put(
        self, key: str, compare: Any, stored: bytes, content: _Content, ttl: int
    ) -> tuple[int, Any, bool]:
        put = rpc.PutRequest(key=key.encode(), value=stored)
        if not ttl or self._leases is None:
            return await self._transact(key, compare, rpc.RequestOp(request_put=put), content)
        put.lease = await self._leases.lease(ttl)
        try:
            return await self._transact(key, compare, rpc.RequestOp(request_put=put), content)
        except Rejected as error:
            if error.code is not StatusCode.NOT_FOUND:
                raise
            # The lease has been revoked: once more with a new one.
            self._leases.forget(ttl)
            put.lease = await self._leases.lease(ttl)
            return await self._transact(key, compare, rpc.RequestOp(request_put=put), content)

    async def _transact(
        self, key: str, compare: Any, change: Any, content: _Content | None
    ) -> tuple[int, Any, bool]:
        """Return the revision of the change, or 0 with what is there instead; and whether it was tried before."""
        read = rpc.RequestOp(request_range=rpc.RangeRequest(key=key.encode()))
        request = rpc.TxnRequest(compare=[compare], success=[change], failure=[read])
        self._transactions += 1
        try:
            answer, repeated = await self.client.call(_txn, request)
            if answer.succeeded:
                await self._show(answer.header.revision, key, content)
                return answer.header.revision, None, repeated
        finally:
            self._transactions -= 1
        # An error must not speak of a state that this process cannot see yet.
        pairs = answer.responses[0].response_range.kvs
        if pairs:
            await self.catch_up(pairs[0].mod_revision, CALL_SECONDS, ours=True)
            return 0, pairs[0], repeated
        await self.catch_up(answer.header.revision, CALL_SECONDS)
        return 0, None, repeated

    async def _show(self, revision: int, key: str, content: _Content | None) -> None:
        """Make our own change visible: at once if it is the next one, else when those before it have come.

        The watch brings it as well, for everybody else; whichever is first counts.
        """
        if revision <= self.mirror.revision:
            return
        self._own[revision] = key, content
        try:
            if self._transactions > 1:
                await asyncio.sleep(0)  # changes whose answers came together become one batch
            self._apply_own()
            if revision > self.mirror.revision:
                await self.catch_up(revision, CALL_SECONDS, ours=True)
        finally:
            self._own.pop(revision, None)

    def _apply_own(self) -> None:
        mirror = self.mirror
        batch: list[Event] = []
        latest: dict[str, Record | None] = {}
        revision = mirror.revision + 1
        while (change := self._own.pop(revision, None)) is not None:
            key, content = change
            record = None if content is None else self._own_record(key, content, revision)
            before = latest[key] if key in latest else mirror.records.get(key)
            latest[key] = record
            batch.append(Event(revision, key, record, before))
            revision += 1
        if batch:
            mirror.apply(batch)

    def _is(self, key: str, revision: int) -> Any:
        return rpc.Compare(
            key=key.encode(), target=rpc.Compare.MOD, result=rpc.Compare.EQUAL, mod_revision=revision
        )

    def _exists(self, key: str) -> Any:
        return rpc.Compare(
            key=key.encode(), target=rpc.Compare.VERSION, result=rpc.Compare.GREATER, version=0
        )

    def _own_record(self, key: str, content: _Content, revision: int) -> Record:
        """Return the record of what this process wrote, which nobody need look at again."""
        value, seal = content
        return self.record(key, value, revision, seal=seal)

    def _received(self, key: str, stored: bytes, revision: int) -> Record:
        """Return the record of what etcd sent."""
        own = self._own.get(revision)
        if own is not None and own[1] is not None and own[0] == key:
            return self._own_record(key, own[1], revision)
        return self.checked_record(key, stored, revision)

    def _shown(self, key: str, revision: int) -> Record | None:
        current = self.get(key)
        return (
            current if current is not None and current.revision == revision else None
        )  # changed again since

    def _written(self, key: str, content: _Content, revision: int) -> Record:
        return self._shown(key, revision) or self._own_record(key, content, revision)

    def _seen(self, pair: Any) -> Record:
        key, revision = pair.key.decode(), pair.mod_revision
        return self._shown(key, revision) or self.checked_record(key, pair.value, revision)

    # --- keeping up

    def sync(self) -> Awaitable[None]:
        """Begin a linearizable read; the mirror has caught up with it when it has been waited for."""
        return _Caught(self, self.reads.read())

    async def wait(self, revision: int, timeout: float) -> bool:
        """Wait until the visible state has reached a revision; False when the timeout passed first."""
        try:
            await self.catch_up(revision, timeout)
        except Unavailable:
            return False
        return True

    async def catch_up(self, revision: int, timeout: float, *, ours: bool = False) -> None:
        """Wait for the mirror; a revision that is not `ours`, of a key of our prefix, must be asked for."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        if revision <= self.mirror.revision or await super().wait(revision, min(PATIENCE_SECONDS, timeout)):
            return
        if not ours:
            await self._nudge(revision, deadline)
        if await super().wait(revision, min(SILENCE_SECONDS, deadline - loop.time())):
            return
        if deadline > loop.time() and self._feed is not None:
            self._feed.reconnect()
        if not await super().wait(revision, deadline - loop.time()):
            raise Unavailable(f"revision {revision} has not arrived from etcd, seen is {self.revision}")

    async def _nudge(self, revision: int, deadline: float) -> None:
        """Make etcd tell how far its watch is; what one caller asks for helps all others."""
        async with self._nudging:
            # Whoever has waited here for as long as he may asks no more: those behind him would wait as long again.
            timeout = deadline - asyncio.get_running_loop().time()
            if revision <= self.revision or self._feed is None or timeout <= 0:
                return
            if self._feed.progress_is_ordered:
                await self._feed.request_progress()
                await super().wait(revision, PATIENCE_SECONDS)
            elif revision <= await self.reads.once(timeout):
                # Older versions may answer before they have sent the events: write something to wait for.
                put = rpc.PutRequest(key=self._barrier.encode())
                answer, _ = await self.client.call(lambda endpoint: endpoint.kv.Put, put, timeout=timeout)
                await super().wait(answer.header.revision, min(SILENCE_SECONDS, timeout))

    # --- the rest

    async def compact(self, revision: int) -> None:
        """Forget the history before a revision, in etcd and here; another server may have done it."""
        if revision > self.revision:
            raise FutureRevision(revision, self.revision)
        request = rpc.CompactionRequest(revision=revision)
        try:
            await self.client.call(lambda endpoint: endpoint.kv.Compact, request)
        except Rejected as error:
            if error.code is not StatusCode.OUT_OF_RANGE:
                raise
        self.mirror.compact(revision)

    async def health(self, seconds: float = HEALTH_SECONDS) -> None:
        """Raise Unavailable when etcd does not answer a linearizable read."""
        await self.reads.once(seconds)

    async def space(self) -> None:
        """Raise NoSpace while a member has the alarm that makes etcd refuse writes."""
        answer, _ = await self.client.call(
            lambda endpoint: endpoint.maintenance.Alarm, rpc.AlarmRequest(), timeout=HEALTH_SECONDS
        )
        if any(member.alarm == rpc.NOSPACE for member in answer.alarms):
            raise NoSpace

    async def snapshot_save(self, path: Path) -> SnapshotStatus:
        """Write etcd's own snapshot to a new file."""
        return await snapshot.save(self.client, path)


class _Caught:
    """What is waited for until a mirror has come as far as a read; whoever goes away before need not wait."""

    __slots__ = ("_read", "_store")

    def __init__(self, store: EtcdStore, read: asyncio.Future[int]) -> None:
        self._store, self._read = store, read

    def __await__(self) -> Generator[Any, None, None]:
        revision = yield from self._read
        if revision > self._store.mirror.revision:
            yield from self._store.catch_up(revision, CALL_SECONDS).__await__()
