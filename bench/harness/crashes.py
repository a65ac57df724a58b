"""Kills writers of a store at random moments, and checks what they were promised.

Several workers write to keys of their own and note each write once it is acknowledged. Then the process is killed, the store
opened again, and: every acknowledged write is there, or one that its worker began after it; no value is torn; no revision was
used twice; and a watch goes on from a revision or is told to start over, never something in between.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from pybernetes.control_plane.store.protocol import (
    Compacted,
    Conflict,
    Event,
    KeyExists,
    NotFound,
    Store,
    Unavailable,
)

WORKERS = 8
DELETES_EVERY = 5
STEP = 1_000_000  # the numbers of a round begin at a multiple of this
PREFIX = "/registry/pods/crash/"
Acknowledged = tuple[str, int, bool, int]  # key, number, whether the key exists then, revision


def value_of(key: str, number: int) -> bytes:
    """Return a value of about 2 kB that tells whether it is whole."""
    text = f"{key} {number} ".encode()
    return text + (hashlib.sha256(text).hexdigest() * 32).encode()


def number_of(key: str, value: bytes) -> int:
    """Return the number in a value; fail when the value is torn."""
    number = int(value.split(b" ", 2)[1])
    assert value == value_of(key, number), f"{key} is torn"
    return number


async def write(store: Store, key: str, number: int) -> tuple[int, bool]:
    """Write, replace or delete a key; return the revision, and whether the key exists then."""
    current = store.get(key)
    if current is None:
        return (await store.create(key, value_of(key, number))).revision, True
    if number % DELETES_EVERY == DELETES_EVERY - 1:
        return (await store.delete(key, current.revision)).revision, False
    return (await store.update(key, value_of(key, number), current.revision)).revision, True


async def work_forever(store: Store, first: int, descriptor: int) -> None:
    """Write as fast as it goes, telling each acknowledged write to a descriptor."""

    async def work(key: str) -> None:
        number = first
        while True:
            revision, exists = await write(store, key, number)
            os.write(descriptor, f"{key} {number} {exists:d} {revision}\n".encode())
            number += 1

    await asyncio.gather(*(work(f"{PREFIX}{worker}") for worker in range(WORKERS)))


def parse(lines: list[bytes]) -> list[Acknowledged]:
    """Return the acknowledged writes of a log whose last line may be incomplete."""
    writes = []
    for line in lines:
        if line.endswith(b"\n"):
            key, number, exists, revision = line.decode().split()
            writes.append((key, int(number), exists == "1", int(revision)))
    return writes


@dataclass
class Promises:
    """What was acknowledged so far, compared with what a store has after each crash."""

    last: dict[str, tuple[int, bool]] = field(
        default_factory=lambda: {f"{PREFIX}{worker}": (-1, False) for worker in range(WORKERS)}
    )
    revision: int = 0
    total: int = 0

    def check(self, store: Store, acknowledged: list[Acknowledged], first: int) -> None:
        """Raise AssertionError unless the store keeps what was promised; writes of this round began with ``first``."""
        of_round: dict[str, tuple[int, bool]] = {}
        highest = self.revision
        for key, number, exists, revision in acknowledged:
            of_round[key] = (number, exists)
            assert revision > self.revision, f"revision {revision} was used twice"
            highest = max(highest, revision)
        assert store.revision >= highest, f"revision {highest} was acknowledged, {store.revision} is left"
        assert not store.damaged()
        for key, before in self.last.items():
            number, exists = of_round.get(key, before)
            following = number + 1 if key in of_round else first  # may have been written, or not
            record = store.get(key)
            if record is None:
                gone = not exists or following % DELETES_EVERY == DELETES_EVERY - 1
                assert gone, f"{key} is lost: {number} was acknowledged"
                self.last[key] = (number, False)
            else:
                stored = number_of(key, record.value)
                assert stored == following or (exists and stored == number), (
                    f"{key}: {number} expected, {stored} found"
                )
                assert record.revision <= store.revision
                self.last[key] = (stored, True)
        self.total += len(acknowledged)
        _check_watches(store, self.revision)
        self.revision = store.revision


def _check_watches(store: Store, before: int) -> None:
    seen: list[Event] = []
    store.watch(PREFIX, store.revision, seen.extend).close()
    assert not seen
    if before and before < store.revision:
        with contextlib.suppress(Compacted):  # what resumed there is told to list again
            store.watch(PREFIX, before, seen.extend).close()
            assert [event.revision for event in seen] == sorted({event.revision for event in seen})


def crash_embedded(directory: Path, first: int, lines: int, chance: random.Random) -> list[Acknowledged]:
    """Let a process of its own write to an embedded store, kill it, and return what was acknowledged.

    It is forked, because a new interpreter would take longer than all the rest; no event loop may run here.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with contextlib.suppress(BaseException):
            asyncio.run(_write_embedded(directory, first, writer))
        os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        output = [file.readline() for _ in range(lines)]
        time.sleep(chance.random() / 200)
        os.kill(child, signal.SIGKILL)
        output += file.readlines()
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, "the writer ended by itself"
    return parse(output)


async def _write_embedded(directory: Path, first: int, descriptor: int) -> None:
    from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore

    store = SqliteStore(directory)
    await store.start()
    await work_forever(store, first, descriptor)


def kill_embedded(directory: Path, kills: int, chance: random.Random) -> Promises:
    """Kill writers of an embedded store so many times; AssertionError says what was lost."""
    from pybernetes.control_plane.store.drivers.sqlite.sqlite_store import SqliteStore

    promises = Promises()

    async def check(acknowledged: list[Acknowledged], first: int) -> None:
        store = SqliteStore(directory)
        await store.start()
        try:
            promises.check(store, acknowledged, first)
        finally:
            await store.close()

    for turn in range(kills):
        first = turn * STEP
        acknowledged = crash_embedded(directory, first, chance.randrange(1, 250), chance)
        asyncio.run(check(acknowledged, first))
    return promises


@dataclass
class EtcdWriters:
    """Workers that go on while etcd is killed and started again, and a watch that must not miss or repeat anything."""

    store: Store
    acknowledged: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # by key: number, revision
    seen: dict[str, list[int]] = field(default_factory=dict)  # by key: revisions, as the watch has them
    stopping: bool = False

    async def work(self, key: str) -> None:
        """Write until told to stop; a write of unknown outcome is neither promised nor denied."""
        number = 0
        while not self.stopping:
            number += 1
            try:
                revision, _ = await write(self.store, key, number)
            except (Unavailable, Conflict, NotFound, KeyExists):
                # What failed before has taken effect after all, or the next attempt will tell.
                await asyncio.sleep(0.01)
                continue
            self.acknowledged.setdefault(key, []).append((number, revision))

    def take(self, events: list[Event]) -> None:
        """Note what the watch delivers."""
        for event in events:
            self.seen.setdefault(event.key, []).append(event.revision)

    def check(self) -> int:
        """Raise AssertionError unless every acknowledged write was seen once and the last is there; return how many."""
        for key, writes in self.acknowledged.items():
            revisions = self.seen[key]
            assert revisions == sorted(set(revisions)), f"the watch of {key} repeated or mixed up events"
            missing = {revision for _, revision in writes} - set(revisions)
            assert not missing, f"the watch of {key} missed revisions {sorted(missing)[:5]}"
            record = self.store.get(key)
            number, revision = writes[-1]
            if record is not None and record.revision == revision:
                assert number_of(key, record.value) == number
            assert record is None or record.revision >= revision, f"{key} is older than what was acknowledged"
        return sum(map(len, self.acknowledged.values()))
