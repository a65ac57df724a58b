"""The one way to change a stored object: it is made again when another writer was faster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pybernetes.api.core import configmap
from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import (
    DELETE,
    KEEP,
    Outcome,
    Transaction,
    create_record,
    modify,
    transact,
)
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import KeyExists, Record, Store

MAPS = Kind(configmap.RESOURCE)
KEY = MAPS.key("default", "a")


def config_map(value: str) -> Object:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}, "data": {"k": value}}


@asynccontextmanager
async def memory() -> AsyncIterator[Store]:
    store = open_store("memory", stamp=stamp)
    await store.start()
    try:
        yield store
    finally:
        await store.close()


def stored(store: Store) -> str | None:
    record = store.get(KEY)
    return None if record is None else MAPS.object(record)["data"]["k"]


class Rival:
    """Writes to the key just before the first writes of somebody else."""

    def __init__(self, store: Store, *values: str | None) -> None:
        self.store, self.values = store, list(values)

    async def interfere(self) -> None:
        if self.values:
            value = self.values.pop(0)
            await modify(self.store, MAPS, KEY, lambda obj: DELETE if value is None else config_map(value))


async def test_an_object_is_made_changed_kept_and_deleted() -> None:
    async with memory() as store:
        record = await modify(store, MAPS, KEY, lambda obj: config_map("new"))
        assert record is not None and stored(store) == "new"
        kept = await modify(store, MAPS, KEY, lambda obj: KEEP)
        assert kept is record and store.revision == record.revision

        def change(obj: Object | None) -> Object | Outcome:
            assert obj is not None and obj["metadata"]["resourceVersion"] == str(record.revision)
            obj["data"]["k"] += "er"
            return obj

        await modify(store, MAPS, KEY, change)
        assert stored(store) == "newer"
        assert await modify(store, MAPS, KEY, lambda obj: DELETE) is None
        assert stored(store) is None
        assert await modify(store, MAPS, KEY, lambda obj: KEEP) is None
        assert await modify(store, MAPS, KEY, lambda obj: DELETE) is None


@pytest.mark.parametrize("before", ["there", None])
@pytest.mark.parametrize("rivals", [("theirs",), (None,), ("theirs", None, "theirs")])
async def test_whoever_is_overtaken_begins_again_with_what_is_there_then(
    before: str | None, rivals: tuple[str | None, ...]
) -> None:
    async with memory() as store:
        if before is not None:
            await create_record(store, MAPS, KEY, config_map(before))
        rival, seen = Rival(store, *rivals), []

        async def attempt(transaction: Transaction) -> None:
            obj = transaction.object()
            seen.append(None if obj is None else obj["data"]["k"])
            await rival.interfere()
            await transaction.write(config_map("ours"))

        await transact(store, MAPS, KEY, attempt)
        assert stored(store) == "ours"
        # A rival's write that changes nothing, the deletion of what is not there, overtakes nobody.
        expected = [before]
        for value in rivals:
            if value != expected[-1]:
                expected.append(value)
        assert seen == expected


async def test_a_deletion_is_overtaken_too() -> None:
    async with memory() as store:
        await create_record(store, MAPS, KEY, config_map("there"))
        rival, tries = Rival(store, "theirs"), 0

        async def attempt(transaction: Transaction) -> Any:
            nonlocal tries
            tries += 1
            await rival.interfere()
            return await transaction.delete()

        event = await transact(store, MAPS, KEY, attempt)
        assert tries == 2 and event.revision == store.revision and stored(store) is None


async def test_what_a_change_raises_ends_it() -> None:
    async with memory() as store:
        with pytest.raises(ZeroDivisionError):
            await modify(store, MAPS, KEY, lambda obj: config_map(str(1 // 0)))
        assert store.get(KEY) is None


async def test_somebody_who_is_always_overtaken_is_told() -> None:
    async with memory() as store:
        rival = Rival(store, *map(str, range(100)))

        async def attempt(transaction: Transaction) -> None:
            await rival.interfere()
            await transaction.write(config_map("ours"))

        with pytest.raises(StatusError, match='Operation cannot be fulfilled on configmaps "a"'):
            await transact(store, MAPS, KEY, attempt)


class Behind:
    """A store that others write to as well: reads show what was there at first, until it catches up."""

    local = False

    def __init__(self, store: Store) -> None:
        self.store, self.shown, self.reads = store, store.get(KEY), 0
        self.is_behind = True

    def get(self, key: str) -> Record | None:
        return self.shown if self.is_behind else self.store.get(key)

    async def sync(self) -> None:
        self.reads += 1
        self.is_behind = False

    async def update(self, key: str, value: bytes, revision: int, *, ttl: int = 0) -> Record:
        self.is_behind = False  # whether it is written or refused, it is seen
        return await self.store.update(key, value, revision, ttl=ttl)

    async def create(self, key: str, value: bytes, *, ttl: int = 0) -> Record:
        self.is_behind = False
        return await self.store.create(key, value, ttl=ttl)


def only_older(obj: Object | None) -> Object | Outcome:
    """Keep what is called older, refuse what is called newer, make what is missing."""
    if obj is None:
        return config_map("made")
    if obj["data"]["k"] == "newer":
        raise LookupError
    return KEEP


@pytest.mark.parametrize(
    ("before", "now", "outcome", "reads"),
    [
        ("older", "older", "older", 1),  # nothing to do: for sure only once that is the newest
        ("older", "newer", LookupError, 1),
        ("newer", "older", "older", 1),  # the refusal was about what is gone
        ("newer", "newer", LookupError, 1),
        ("older", None, "made", 1),
        (None, "older", "older", 1),  # making it was refused by what is there, and then nothing is to do
        (None, None, "made", 0),  # a write compares: nobody need be asked before
    ],
)
async def test_a_server_that_is_behind_writes_at_once_and_refuses_only_what_is_newest(
    before: str | None, now: str | None, outcome: Any, reads: int
) -> None:
    async with memory() as store:
        await modify(store, MAPS, KEY, lambda obj: DELETE if before is None else config_map(before))
        behind: Any = Behind(store)
        if now != before:
            await modify(store, MAPS, KEY, lambda obj: DELETE if now is None else config_map(now))
        if isinstance(outcome, str):
            await modify(behind, MAPS, KEY, only_older)
            assert stored(store) == outcome
        else:
            with pytest.raises(outcome):
                await modify(behind, MAPS, KEY, only_older)
        assert behind.reads == reads


async def test_what_is_new_must_not_exist() -> None:
    async with memory() as store:
        await create_record(store, MAPS, KEY, config_map("first"))
        with pytest.raises(KeyExists):
            await create_record(store, MAPS, KEY, config_map("second"))
        assert stored(store) == "first"


async def test_no_object_grows_without_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each patch may be as large as a body: without a bound one object took as much memory as its writer liked."""

    def grown(obj: Object | None) -> Object:
        return config_map((obj or config_map(""))["data"]["k"] + "x" * 1_000_000)

    async with memory() as store:
        for _ in range(3):
            await modify(store, MAPS, KEY, grown)
        with pytest.raises(StatusError) as refused:
            await modify(store, MAPS, KEY, grown)
        assert refused.value.code == 413 and len(stored(store) or "") == 3_000_000
        with pytest.raises(StatusError):
            await create_record(store, MAPS, MAPS.key("default", "b"), config_map("x" * 4_000_000))
        # One that was there before the bound was may become smaller, and go.
        monkeypatch.setattr("pybernetes.control_plane.apiserver.storage.modify._MOST_BYTES", 1000)
        await modify(store, MAPS, KEY, lambda _: config_map("x" * 5000))
        assert len(stored(store) or "") == 5000
        assert await modify(store, MAPS, KEY, lambda _: DELETE) is None
