"""What every driver must do, run on each of them."""

import asyncio
import subprocess
import sys

import pytest

from pybernetes.control_plane.store.open import backends, open_store
from pybernetes.control_plane.store.protocol import (
    Compacted,
    Conflict,
    Event,
    FutureRevision,
    KeyExists,
    NotFound,
    Record,
    StoreError,
    Unavailable,
)
from tests.control_plane.store.conftest import Opener
from tests.support import eventually

DRIVERS = ["memory", "sqlite", "etcd"]


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    return request.param


def stamp(value: bytes, revision: int) -> bytes:
    return value + b"@%d" % revision


def shapes(events: list[Event]) -> list[tuple[int, str, bytes | None, bytes | None]]:
    """Return events as tuples that can be compared."""

    def value(record: Record | None) -> bytes | None:
        return None if record is None else record.value

    return [(e.revision, e.key, value(e.record), value(e.previous)) for e in events]


def test_names_of_the_drivers() -> None:
    assert backends() == ["etcd", "etcd3", "memory", "sqlite"]


def test_unknown_backends_and_options_are_refused_by_name() -> None:
    with pytest.raises(
        StoreError, match="unknown storage backend 'redis': choose one of etcd, etcd3, memory"
    ):
        open_store("redis")
    with pytest.raises(StoreError, match=r"memory.*data_dir"):
        open_store("memory", data_dir="x")


def test_only_the_chosen_driver_is_imported() -> None:
    program = (
        "import sys; from pybernetes.control_plane.store.open import open_store; open_store('memory');"
        "sys.exit('grpc' in sys.modules or 'sqlite3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


async def test_create_update_delete(opened: Opener, root: str) -> None:
    key = f"{root}/pods/a/b"
    async with opened(stamp=stamp) as store:
        assert store.get(key) is None
        created = await store.create(key, b"one")
        assert created is store.get(key)
        assert created.value == b"one@%d" % created.revision
        assert store.revision == created.revision
        updated = await store.update(key, b"two", created.revision)
        assert updated is store.get(key)
        assert updated.revision > created.revision and updated.value == b"two@%d" % updated.revision
        event = await store.delete(key, updated.revision)
        assert event.revision > updated.revision and event.revision == store.revision
        assert event.record is None and event.previous is updated
        assert store.get(key) is None
        assert (await store.create(key, b"three")).revision > event.revision


async def test_refusals(opened: Opener, root: str) -> None:
    key = f"{root}/pods/a/b"
    async with opened() as store:
        with pytest.raises(NotFound):
            await store.update(key, b"", 1)
        with pytest.raises(NotFound):
            await store.delete(key, 0)
        created = await store.create(key, b"one")
        with pytest.raises(KeyExists) as exists:
            await store.create(key, b"other")
        assert exists.value.key == key
        for attempt in (store.update(key, b"two", created.revision - 1), store.delete(key, 1)):
            with pytest.raises(Conflict) as conflict:
                await attempt
            assert conflict.value.key == key and conflict.value.current is created
        await store.delete(key, 0)
        with pytest.raises(NotFound):
            await store.delete(key, created.revision)


async def test_values_are_bytes_of_any_kind(opened: Opener, root: str) -> None:
    values = {
        "empty": b"",
        "binary": bytes(range(256)),
        "large": b"x" * 1_000_000,
        "ключ": "значение".encode(),
    }
    async with opened() as store:
        for name, value in values.items():
            await store.create(f"{root}/things/{name}", value)
        for name, value in values.items():
            record = store.get(f"{root}/things/{name}")
            assert record is not None and record.value == value


async def test_list_in_pages(opened: Opener, root: str) -> None:
    async with opened() as store:
        names = [f"{root}/pods/{namespace}/{name}" for namespace in "ab" for name in "wxyz"]
        for key in reversed(names):
            await store.create(key, key.encode())
        await store.create(f"{root}/podsx", b"")
        page = store.list(f"{root}/pods/")
        assert [record.key for record in page.records] == names
        assert (page.more, page.remaining, page.revision) == (False, 0, store.revision)
        assert [record.key for record in store.list(f"{root}/pods/b/").records] == names[4:]
        assert store.list(f"{root}/nothing/").records == []
        assert store.count(f"{root}/pods/") == 8 and store.count(f"{root}/pods/a/") == 4
        first = store.list(f"{root}/pods/", limit=3)
        assert [r.key for r in first.records] == names[:3] and first.more and first.remaining == 5
        rest = store.list(f"{root}/pods/", start=names[3], limit=5)
        assert [r.key for r in rest.records] == names[3:] and not rest.more and rest.remaining == 0


async def test_list_an_older_state(opened: Opener, root: str) -> None:
    async with opened() as store:
        for name in "acd":
            await store.create(f"{root}/pods/{name}", b"old")
        revision = store.revision
        await store.create(f"{root}/pods/b", b"new")
        await store.update(f"{root}/pods/c", b"new", 0)
        await store.delete(f"{root}/pods/d", 0)
        await store.create(f"{root}/pods/d", b"again")
        await store.delete(f"{root}/pods/a", 0)
        names: list[str] = []
        start = ""
        while True:
            page = store.list(f"{root}/pods/", start=start, limit=2, revision=revision)
            assert page.revision == revision and all(r.value == b"old" for r in page.records)
            names += [record.key[-1] for record in page.records]
            assert page.remaining == 3 - len(names)
            if not page.more:
                break
            start = page.records[-1].key + "\0"
        assert names == ["a", "c", "d"]
        assert [r.key[-1] for r in store.list(f"{root}/pods/").records] == ["b", "c", "d"]
        with pytest.raises(FutureRevision):
            store.list(f"{root}/pods/", revision=store.revision + 100)


async def test_compaction(opened: Opener, root: str) -> None:
    async with opened() as store:
        for number in range(4):
            await store.create(f"{root}/pods/{number}", b"")
        with pytest.raises(FutureRevision):
            await store.compact(store.revision + 100)
        revision = store.revision - 1
        await store.compact(revision)
        await store.compact(revision)  # as a second API server would
        assert store.compacted == revision
        assert len(store.list(f"{root}/pods/", revision=revision).records) == 3
        with pytest.raises(Compacted) as gone:
            store.list(f"{root}/pods/", revision=revision - 1)
        assert (gone.value.revision, gone.value.compacted) == (revision - 1, revision)
        with pytest.raises(Compacted):
            store.watch(f"{root}/pods/", revision - 1, lambda events: None)
        seen: list[Event] = []
        store.watch(f"{root}/pods/", revision, seen.extend)
        assert [event.key[-1] for event in seen] == ["3"]


async def test_watch_replays_and_goes_on(opened: Opener, root: str) -> None:
    key = f"{root}/pods/a/b"
    async with opened() as store:
        everything: list[Event] = []
        store.watch(f"{root}/", 0, everything.extend)
        created = await store.create(key, b"one")
        await store.create(f"{root}/nodes/n", b"")
        updated = await store.update(key, b"two", created.revision)
        sinks: dict[str, list[Event]] = {
            "pods/": [],
            "pods/a/": [],
            "pods/a/b": [],
            "pods/b/": [],
            "nodes/": [],
        }
        for prefix, sink in sinks.items():
            store.watch(f"{root}/{prefix}", created.revision, sink.extend)
        assert shapes(sinks["pods/"]) == [(updated.revision, key, b"two", b"one")]
        deleted = await store.delete(key, 0)
        assert shapes(sinks["pods/"])[1:] == [(deleted.revision, key, None, b"two")]
        assert sinks["pods/"] == sinks["pods/a/"] == sinks["pods/a/b"]
        assert [event.key for event in sinks["nodes/"]] == [f"{root}/nodes/n"]
        assert sinks["pods/b/"] == []
        revisions = [event.revision for event in everything]
        assert len(everything) == 4 and revisions == sorted(revisions)


async def test_watches_end(opened: Opener, root: str) -> None:
    seen: list[Event] = []
    endings: list[object] = []
    async with opened() as store:
        watch = store.watch(f"{root}/", 0, seen.extend, closed=endings.append)
        await store.create(f"{root}/pods/a", b"")
        watch.close()
        watch.close()
        await store.create(f"{root}/pods/b", b"")
        assert len(seen) == 1
        store.watch(f"{root}/", 0, seen.extend, closed=endings.append)
        assert endings == []
    assert endings == [None]
    with pytest.raises(Unavailable):
        await store.create(f"{root}/pods/c", b"")


async def test_a_watch_from_the_future_skips_what_is_before_it(opened: Opener, root: str) -> None:
    async with opened() as store:
        seen: list[Event] = []
        await store.create(f"{root}/pods/0", b"")
        store.watch(f"{root}/pods/", store.revision + 2, seen.extend)
        for number in range(1, 5):
            await store.create(f"{root}/pods/{number}", b"")
        assert [event.key[-1] for event in seen] == ["3", "4"]


async def test_concurrent_writers_and_watchers_agree(opened: Opener, root: str) -> None:
    async with opened() as store:
        early: list[Event] = []
        late: list[Event] = []
        start = store.revision
        store.watch(f"{root}/", 0, early.extend)

        async def work(worker: int) -> None:
            for number in range(10):
                key = f"{root}/pods/{worker}/{number % 3}"
                current = store.get(key)
                if current is None:
                    await store.create(key, b"%d" % number)
                elif number % 4 == 3:
                    await store.delete(key, current.revision)
                else:
                    await store.update(key, b"%d" % number, current.revision)
                if worker == 0 and number == 5:
                    store.watch(f"{root}/", start, late.extend)

        await asyncio.gather(*(work(worker) for worker in range(20)))
        assert len(early) == 200 and shapes(late) == shapes(early)
        state: dict[str, bytes] = {}
        for event in early:
            assert state.get(event.key) == (event.previous and event.previous.value)
            if event.record is None:
                del state[event.key]
            else:
                state[event.key] = event.record.value
        assert {record.key: record.value for record in store.list(f"{root}/").records} == state
        assert len({event.revision for event in early}) == 200


async def test_compare_and_swap_loses_no_increment(opened: Opener, root: str) -> None:
    key = f"{root}/counters/one"
    async with opened() as store:
        await store.create(key, b"0")

        async def increment() -> None:
            while True:
                current = store.get(key)
                assert current is not None
                try:
                    await store.update(key, b"%d" % (int(current.value) + 1), current.revision)
                    return
                except Conflict as conflict:
                    # The error never speaks of something that cannot be read yet.
                    assert conflict.current.revision <= store.revision

        await asyncio.gather(*(increment() for _ in range(20)))
        final = store.get(key)
        assert final is not None and final.value == b"20"


async def test_one_of_many_creators_wins(opened: Opener, root: str) -> None:
    async with opened() as store:
        outcomes = await asyncio.gather(
            *(store.create(f"{root}/leases/x", b"%d" % n) for n in range(20)), return_exceptions=True
        )
        assert sum(isinstance(outcome, KeyExists) for outcome in outcomes) == 19


async def test_a_cancelled_writer_leaves_the_store_in_order(opened: Opener, root: str) -> None:
    key = f"{root}/pods/a"
    async with opened() as store:
        task = asyncio.create_task(store.create(key, b"one"))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        try:
            await store.create(key, b"two")
        except KeyExists:
            pass
        await store.update(key, b"three", 0)
        record = store.get(key)
        assert record is not None and record.value == b"three"


async def test_changed_tells_when_a_list_is_stale(opened: Opener, root: str) -> None:
    async with opened() as store:
        await store.create(f"{root}/pods/a/x", b"")
        record = await store.create(f"{root}/pods/b/x", b"")
        pods, a, b, nodes = (store.changed(f"{root}/{p}") for p in ("pods/", "pods/a/", "pods/b/", "nodes/"))
        assert pods == record.revision
        deleted = await store.delete(f"{root}/pods/b/x", 0)
        assert store.changed(f"{root}/pods/") == deleted.revision > pods
        assert store.changed(f"{root}/pods/b/") == deleted.revision > b
        assert store.changed(f"{root}/pods/a/") == a
        await store.create(f"{root}/nodes/n", b"")
        assert store.changed(f"{root}/nodes/") > nodes
        assert store.changed(f"{root}/pods/") == deleted.revision


async def test_waiting_for_a_revision(opened: Opener, root: str) -> None:
    async with opened() as store:
        assert await store.wait(store.revision, 0)
        assert not await store.wait(store.revision + 1, 0.01)
        waiting = asyncio.create_task(store.wait(store.revision + 2, 10))
        await store.create(f"{root}/pods/a", b"")
        assert not waiting.done()
        await store.create(f"{root}/pods/b", b"")
        assert await waiting
        await store.sync()
        await store.health()


async def test_time_to_live(opened: Opener, root: str) -> None:
    async with opened() as store:
        gone = asyncio.Event()
        seen: list[Event] = []

        def sink(events: list[Event]) -> None:
            seen.extend(events)
            if events[-1].record is None:
                gone.set()

        store.watch(f"{root}/", 0, sink)
        await store.create(f"{root}/events/short", b"x", ttl=1)
        await store.create(f"{root}/events/kept", b"x", ttl=1)
        await store.create(f"{root}/events/long", b"x", ttl=3600)
        await store.update(f"{root}/events/kept", b"y", 0)
        async with asyncio.timeout(60):
            await gone.wait()
        assert [event.key for event in seen if event.record is None] == [f"{root}/events/short"]
        assert [r.key for r in store.list(f"{root}/").records] == [
            f"{root}/events/kept",
            f"{root}/events/long",
        ]


@pytest.mark.parametrize("driver", DRIVERS[1:])
async def test_reopening_keeps_everything(opened: Opener, root: str, driver: str) -> None:
    async with opened(stamp=stamp) as store:
        for number in range(50):
            await store.create(f"{root}/pods/{number:02}", b"%d" % number, ttl=1 if number == 7 else 0)
        await store.delete(f"{root}/pods/49", 0)
        revision = store.revision
        before = [(r.key, r.value, r.revision) for r in store.list(f"{root}/").records if "07" not in r.key]
    async with opened(stamp=stamp) as store:
        assert store.revision >= revision
        after = [(r.key, r.value, r.revision) for r in store.list(f"{root}/").records if "07" not in r.key]
        assert after == before
        await eventually(lambda: store.get(f"{root}/pods/07") is None)
        assert (await store.create(f"{root}/pods/99", b"")).revision > revision
