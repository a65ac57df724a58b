"""Keeps a mirror equal to what an etcd cluster holds under a prefix.

A complete read at one revision, then one watch for everything. When the connection is lost, another
endpoint goes on from the last revision seen; when etcd has compacted that away, a second complete read
is compared with the mirror and the difference becomes events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from aetcd.rpc import kv_pb2 as kv
from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd.client import FIRST_DELAY, LAST_DELAY, EtcdClient, Rejected
from pybernetes.control_plane.store.mirror import Mirror, prefix_end
from pybernetes.control_plane.store.protocol import Compacted, Event, Record, StoreError, Unavailable
from pybernetes.lib.grpc.channel import RpcError, StatusCode

log = logging.getLogger(__name__)

# Makes a record from a key, its value and its revision.
Make = Callable[[str, bytes, int], Record]
# Fetches what is needed to make records from what etcd sent.
Prepare = Callable[[Iterable[Any]], Awaitable[None]]

PAGE = 2000
# Ends the watch when its member loses the cluster, where it would stay silent otherwise.
REQUIRE_LEADER = (("hasleader", "true"),)
# The watch id of an answer to a progress request, as opposed to one to our only watch.
BROADCAST = -1


class EtcdFeed:
    """Reads etcd into a mirror until it is closed."""

    def __init__(
        self, client: EtcdClient, mirror: Mirror, prefix: str, make: Make, barrier: str, prepare: Prepare
    ) -> None:
        self._client = client
        self._mirror = mirror
        self._make, self._prepare = make, prepare
        self._barrier = barrier.encode()  # a key that is written to see it arrive, and not shown
        self._key = prefix.encode()
        self._end = (prefix_end(prefix) or "\0").encode()
        self._call: Any = None
        self._task: asyncio.Task[None] | None = None
        self._following = asyncio.Event()
        self._progress_is_ordered = False

    @property
    def progress_is_ordered(self) -> bool:
        """Whether the connected member answers a progress request after the events before it."""
        return self._progress_is_ordered

    async def start(self, timeout: float) -> None:
        """Fill the mirror and begin to follow."""
        status, _ = await self._client.call(
            lambda endpoint: endpoint.maintenance.Status, rpc.StatusRequest(), timeout=timeout
        )
        refuse_corrupting(status.version)
        pairs, revision = await self._read_all(timeout)
        self._mirror.load([self._record(pair) for pair in pairs], revision)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="etcd-feed")
        try:
            async with asyncio.timeout(timeout):
                await self._following.wait()
        except TimeoutError:
            raise Unavailable("etcd can be read but not watched") from None

    async def close(self) -> None:
        """Stop following."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def reconnect(self) -> None:
        """Leave the current connection, which seems to have gone silent."""
        if self._call is not None:
            self._call.cancel()

    async def request_progress(self) -> None:
        """Ask for the revision up to which all events have been sent."""
        if self._call is not None:
            try:
                await self._call.write(rpc.WatchRequest(progress_request=rpc.WatchProgressRequest()))
            except RpcError:
                pass  # the connection has just gone; its successor sends what was missed

    async def _run(self) -> None:
        delay = FIRST_DELAY
        while True:
            endpoint = self._client.current
            seen = self._mirror.revision
            try:
                await self._follow(endpoint)
            except Compacted:
                log.warning("etcd has compacted revision %d away: comparing everything", seen)
            except RpcError as error:
                log.info("lost the etcd watch at %s: %s", endpoint.address, error.details)
                self._client.leave(endpoint)
            except StoreError as error:
                log.warning("cannot follow etcd at %s: %s", endpoint.address, error)
                self._client.leave(endpoint)
            finally:
                self._call = None
            delay = FIRST_DELAY if self._mirror.revision > seen else min(LAST_DELAY, delay * 2)
            await asyncio.sleep(delay)

    async def _follow(self, endpoint: Any) -> None:
        status = await endpoint.maintenance.Status(rpc.StatusRequest(), timeout=LAST_DELAY)
        refuse_corrupting(status.version)
        self._progress_is_ordered = progress_is_ordered(status.version)
        head = await endpoint.kv.Range(rpc.RangeRequest(key=self._barrier), timeout=LAST_DELAY * 5)
        if head.header.revision < self._mirror.revision:
            # The cluster was restored from a backup: what watchers have seen never happened.
            await self._compare()
        call = self._call = endpoint.watch.Watch(metadata=REQUIRE_LEADER)
        try:
            await call.write(
                rpc.WatchRequest(
                    create_request=rpc.WatchCreateRequest(
                        key=self._key,
                        range_end=self._end,
                        start_revision=self._mirror.revision + 1,
                        progress_notify=True,
                        fragment=True,
                    )
                )
            )
            gathered: list[Any] = []
            while (answer := await call.read()) is not None:
                if answer.compact_revision:
                    await self._compare()
                    return
                if answer.canceled:
                    raise StoreError(f"etcd ended the watch: {answer.cancel_reason}")
                if answer.created:
                    self._following.set()
                gathered.extend(answer.events)
                if answer.fragment:
                    continue
                if gathered:
                    await self._prepare(change.kv for change in gathered)
                    self._apply(gathered)
                    gathered = []
                elif not answer.created and (self._progress_is_ordered or answer.watch_id != BROADCAST):
                    self._mirror.advance(answer.header.revision)
        finally:
            call.cancel()

    def _apply(self, changes: Iterable[Any]) -> None:
        """Turn etcd's events into ours; what was there before is known to the mirror."""
        mirror = self._mirror
        latest: dict[str, Record | None] = {}
        events: list[Event] = []
        last = 0
        for change in changes:
            pair = change.kv
            if pair.mod_revision < last:
                raise StoreError(f"etcd sent revision {pair.mod_revision} after {last}")
            last = pair.mod_revision
            if pair.key == self._barrier or last <= mirror.revision:
                continue
            key = _name(pair.key)
            if key is None:
                continue
            previous = latest[key] if key in latest else mirror.records.get(key)
            record = None if change.type == kv.Event.DELETE else self._record(pair)
            latest[key] = record
            events.append(Event(last, key, record, previous))
        if events:
            mirror.apply(events)
        mirror.advance(last)

    async def _read_all(self, timeout: float) -> tuple[list[Any], int]:
        """Return everything under the prefix at one revision."""
        pairs: list[Any] = []
        revision, key = 0, self._key
        while True:
            request = rpc.RangeRequest(key=key, range_end=self._end, limit=PAGE, revision=revision)
            try:
                answer, _ = await self._client.call(
                    lambda endpoint: endpoint.kv.Range, request, timeout=timeout, attempt=timeout
                )
            except Rejected as error:
                if error.code is StatusCode.OUT_OF_RANGE:  # compacted while we were reading
                    pairs, revision, key = [], 0, self._key
                    continue
                raise
            revision = revision or answer.header.revision
            pairs.extend(
                pair for pair in answer.kvs if pair.key != self._barrier and _name(pair.key) is not None
            )
            if not answer.more:
                await self._prepare(pairs)
                return pairs, revision
            key = answer.kvs[-1].key + b"\0"

    async def _compare(self) -> None:
        """Read everything again and turn the difference into events."""
        mirror = self._mirror
        pairs, revision = await self._read_all(30.0)
        if revision < mirror.revision:
            error = Compacted(mirror.revision, revision)
            mirror.load([self._record(pair) for pair in pairs], revision)
            mirror.end_watches(error)
            return
        current = {pair.key.decode(): pair for pair in pairs}
        events = [
            # When it was deleted is not known: as late as possible, so that no event comes after it.
            Event(revision, key, None, record)
            for key, record in mirror.records.items()
            if key not in current
        ]
        for key, pair in current.items():
            previous = mirror.records.get(key)
            if previous is not None and previous.revision >= pair.mod_revision:
                continue
            if previous is not None and pair.create_revision > previous.revision:
                events.append(Event(pair.create_revision, key, None, previous))
                previous = None
            events.append(Event(pair.mod_revision, key, self._record(pair), previous))
        events.sort(key=lambda event: event.revision)  # stable: a deletion stays before its creation
        if events:
            mirror.apply(events)
        mirror.advance(revision)
        mirror.compact(revision)  # the states in between were never seen

    def _record(self, pair: Any) -> Record:
        # What another has written may be anything.
        return self._make(pair.key.decode(), pair.value, pair.mod_revision)


def refuse_corrupting(version: str) -> None:
    """Raise for the versions of etcd that can lose or mix up what they hold when they are killed."""
    if version_number(version)[:2] == (3, 5) and version_number(version) < (3, 5, 3):
        raise StoreError(f"etcd {version} can corrupt its data (3.5.0 to 3.5.2 do): use 3.5.3 or later")


def _name(key: bytes) -> str | None:
    """Return a key as text; None, and a word about it, for one that no API server can have written."""
    try:
        return key.decode()
    except UnicodeDecodeError:
        log.warning("the key %r in etcd is no text and is left alone", key)
        return None


def progress_is_ordered(version: str) -> bool:
    """Return whether a version of etcd has the fix that keeps progress answers behind the events before them."""
    number = version_number(version)
    return number >= (3, 5, 8) or (3, 4, 25) <= number < (3, 5)


def version_number(version: str) -> tuple[int, ...]:
    """Return a version as numbers; (0,) for one that is not made of numbers."""
    try:
        return tuple(int(part) for part in version.split("-")[0].split("."))
    except ValueError:
        return (0,)
