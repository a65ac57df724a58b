"""What only the etcd driver does: TLS, failover, lost connections, keys of others, snapshots."""

import asyncio
import contextlib
import json
import os
import subprocess
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.message import Message

from pybernetes.control_plane.store.drivers.etcd import bolt_file, feed
from pybernetes.control_plane.store.drivers.etcd import etcd_store as driver_module
from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient, Method
from pybernetes.control_plane.store.drivers.etcd.etcd_store import EtcdStore
from pybernetes.control_plane.store.protocol import Compacted, Conflict, Event, StoreError, Unavailable
from tests.control_plane.store.certificates import Authority
from tests.control_plane.store.conftest import prefixes, started
from tests.control_plane.store.etcd_server import Member, etcd
from tests.support import eventually, require_program


@pytest.fixture
def root() -> str:
    return f"/registry{next(prefixes)}"


class Relay:
    """A TCP connection to an etcd that tests can cut and close for new connections."""

    def __init__(self, member: Member) -> None:
        self._target = member.client_port
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.address = ""
        self.refuses = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.close()
            return
        back_reader, back_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, back_writer}
        await asyncio.gather(self._copy(reader, back_writer), self._copy(back_reader, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while content := await reader.read(65536):
                writer.write(content)
                await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Lose every connection at once and take no new ones."""
        self.refuses = True
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Relay"]:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            self._server.close()
            self.cut()


async def test_lost_connections_leave_no_gap(etcd_member: Member, root: str) -> None:
    async with (
        Relay(etcd_member).running() as relay,
        started(EtcdStore([relay.address], prefix=root)) as store,
        started(EtcdStore([etcd_member.address], prefix=root)) as other,
    ):
        seen: list[Event] = []
        store.watch(f"{root}/", 0, seen.extend)
        await store.create(f"{root}/pods/0", b"")
        for number in range(1, 5):
            relay.cut()
            await other.create(f"{root}/pods/{number}", b"")
            await other.delete(f"{root}/pods/{number - 1}", 0)
            relay.refuses = False
            await eventually(lambda: store.revision >= other.revision)
        assert [(e.key[-1], e.record is not None) for e in seen] == [
            ("0", True), ("1", True), ("0", False), ("2", True), ("1", False),
            ("3", True), ("2", False), ("4", True), ("3", False),
        ]  # fmt: skip
        assert [e.revision for e in seen] == sorted({e.revision for e in seen})


async def test_compaction_while_disconnected_becomes_a_difference(etcd_member: Member, root: str) -> None:
    async with (
        Relay(etcd_member).running() as relay,
        started(EtcdStore([relay.address], prefix=root)) as store,
        started(EtcdStore([etcd_member.address], prefix=root)) as other,
    ):
        for name in ("changed", "deleted", "replaced", "same"):
            await other.create(f"{root}/pods/{name}", b"old")
        await store.sync()
        seen: list[Event] = []
        endings: list[object] = []
        store.watch(f"{root}/", 0, seen.extend, closed=endings.append)
        before = store.revision
        relay.cut()
        await other.update(f"{root}/pods/changed", b"new", 0)
        await other.delete(f"{root}/pods/replaced", 0)
        await other.create(f"{root}/pods/replaced", b"new")
        await other.create(f"{root}/pods/passing", b"new")
        await other.delete(f"{root}/pods/passing", 0)
        await other.create(f"{root}/pods/created", b"new")
        await other.delete(f"{root}/pods/deleted", 0)
        await other.compact(other.revision)
        relay.refuses = False
        await eventually(lambda: store.revision >= other.revision)
        shapes = [
            (e.key.split("/")[-1], e.previous and e.previous.value, e.record and e.record.value) for e in seen
        ]
        assert shapes == [
            ("changed", b"old", b"new"),
            ("replaced", b"old", None),
            ("replaced", None, b"new"),
            ("created", None, b"new"),
            ("deleted", b"old", None),
        ]
        assert all(before < e.revision <= store.revision for e in seen)
        assert [r.key for r in store.list(f"{root}/").records] == [
            r.key for r in other.list(f"{root}/").records
        ]
        with pytest.raises(Compacted):
            store.list(f"{root}/", revision=before)
        await other.create(f"{root}/pods/later", b"")
        await eventually(lambda: seen[-1].key.endswith("later"))
        assert endings == []


async def test_a_restored_cluster_ends_all_watches(tmp_path: Path, root: str) -> None:
    with etcd(tmp_path / "first") as [first], etcd(tmp_path / "second") as [second]:
        async with Relay(first).running() as relay, started(EtcdStore([relay.address], prefix=root)) as store:
            for number in range(5):
                await store.create(f"{root}/pods/{number}", b"")
            endings: list[object] = []
            store.watch(f"{root}/", 0, lambda events: None, closed=endings.append)
            relay.cut()
            relay._target = second.client_port  # its history is shorter
            relay.refuses = False
            await eventually(lambda: store.count(f"{root}/") == 0)
            assert len(endings) == 1 and isinstance(endings[0], Compacted)
            await store.create(f"{root}/pods/new", b"")


@pytest.mark.parametrize("ordered", [False, True])
async def test_sync_sees_the_writes_of_others(
    etcd_member: Member, root: str, ordered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "progress_is_ordered", lambda version: ordered)
    async with (
        started(EtcdStore([etcd_member.address], prefix=root)) as store,
        started(EtcdStore([etcd_member.address], prefix=root)) as other,
        started(EtcdStore([etcd_member.address], prefix=f"{root}x")) as foreign,
    ):
        for number in range(20):
            record = await other.create(f"{root}/pods/{number}", b"")
            await asyncio.gather(*(store.sync() for _ in range(10)))
            assert store.get(record.key) is not None
        # A revision that no key of ours carries must not be waited for in vain.
        written = await foreign.create(f"{root}x/pods/a", b"")
        await store.sync()
        assert store.revision >= written.revision and store.get(written.key) is None
        written = await foreign.update(f"{root}x/pods/a", b"", 0)
        assert await store.wait(written.revision, 60)
        assert store.count(f"{root}/") == 20  # what is written to find out is not shown
        store.list(f"{root}/", revision=store.revision)


async def test_a_silent_watch_is_replaced(
    etcd_member: Member, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_module, "SILENCE_SECONDS", 0.1)
    async with started(EtcdStore([etcd_member.address], prefix=root)) as store:
        await store.create(f"{root}/pods/a", b"")
        assert store._feed is not None
        monkeypatch.setattr(store._feed, "_apply", lambda changes: None)
        asyncio.get_running_loop().call_later(0.2, monkeypatch.undo)
        await store.create(f"{root}/pods/b", b"")
        assert store.get(f"{root}/pods/b") is not None


async def test_an_attempt_that_failed_after_it_took_effect(
    etcd_member: Member, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with started(EtcdStore([etcd_member.address], prefix=root)) as store:
        call = store.client.call

        async def repeating(method: Method, request: Message, **limits: float) -> tuple[Message, bool]:
            await call(method, request, **limits)
            answer, _ = await call(method, request, **limits)
            return answer, True

        monkeypatch.setattr(store.client, "call", repeating)
        created = await store.create(f"{root}/pods/a", b"one")
        updated = await store.update(f"{root}/pods/a", b"two", created.revision)
        assert store.get(f"{root}/pods/a") is updated and updated.value == b"two"
        with pytest.raises(Conflict):
            await store.update(f"{root}/pods/a", b"three", created.revision)
        event = await store.delete(f"{root}/pods/a", updated.revision)
        assert event.previous is updated and store.get(f"{root}/pods/a") is None


async def test_leases_are_shared(etcd_member: Member, root: str) -> None:
    async with started(EtcdStore([etcd_member.address], prefix=root)) as store:
        assert store._leases is not None
        leases = await asyncio.gather(*(store._leases.lease(3600) for _ in range(1500)))
        assert len(set(leases)) == 2
        assert await store._leases.lease(0) == 0
        assert await store._leases.lease(10) != await store._leases.lease(10)
        lease = driver_module.rpc.LeaseRevokeRequest(ID=leases[-1])
        await store.client.call(lambda endpoint: endpoint.lease.LeaseRevoke, lease)
        record = await store.create(f"{root}/events/a", b"", ttl=3600)
        assert store.get(f"{root}/events/a") is record


async def test_client_certificates(tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path, "ca"), Authority(tmp_path, "stranger")
    server = authority.issue("server")
    tls = {"ca": authority.path, "cert": server[0], "key": server[1]}
    good, bad = authority.issue("client"), stranger.issue("intruder")
    with etcd(tmp_path / "etcd", tls=tls) as [member]:

        def store(ca: Path, files: tuple[Path, Path] | None) -> EtcdStore:
            certificate, key = (str(file) for file in files) if files else (None, None)
            return EtcdStore([member.address], cafile=str(ca), certfile=certificate, keyfile=key)

        async with started(store(authority.path, good)) as opened:
            await opened.create("/registry/pods/a", b"x")
            await opened.sync()
        for refused in (store(authority.path, None), store(authority.path, bad), store(stranger.path, good)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(driver_module, "START_SECONDS", 0.5)
                with pytest.raises(Unavailable, match=member.address):
                    await refused.start()


async def test_bad_options_are_explained(tmp_path: Path) -> None:
    address = "https://localhost:2379"
    for store, message in (
        (lambda: EtcdStore([]), "no etcd servers"),
        (lambda: EtcdStore(["localhost:2379"]), "must look like http://host:port"),
        (lambda: EtcdStore([address], cafile="/nowhere"), "cannot read /nowhere"),
        (lambda: EtcdStore([address], certfile="a"), "must be given together"),
    ):
        with pytest.raises(StoreError, match=message):
            await store().start()


async def test_failover_when_the_leader_dies(tmp_path: Path) -> None:
    with etcd(tmp_path, count=3) as members:
        async with started(EtcdStore([member.address for member in members])) as store:
            seen: list[Event] = []
            store.watch("/registry/", 0, seen.extend)
            acknowledged: dict[str, int] = {}
            killed = asyncio.Event()
            after_kill = 0

            async def write(worker: int) -> None:
                nonlocal after_kill
                for number in range(10_000):
                    record = await store.create(f"/registry/pods/{worker}/{number}", b"x" * 200)
                    acknowledged[record.key] = record.revision
                    after_kill += killed.is_set()
                    if after_kill >= 200:
                        return

            def acknowledged_more_than(count: int) -> bool:
                return len(acknowledged) > count

            writers = [asyncio.create_task(write(worker)) for worker in range(4)]
            for _ in range(2):  # the leader, then back with it, then the next leader
                count = len(acknowledged)
                await eventually(partial(acknowledged_more_than, count + 50))
                leader = await leader_of(store, members)
                leader.kill()
                await eventually(partial(acknowledged_more_than, count + 100))
                leader.start()
                leader.wait_until_ready()
            killed.set()
            await asyncio.gather(*writers)
            await store.health()
            assert {e.key: e.revision for e in seen} == acknowledged
            assert len(seen) == len(acknowledged)
            assert [e.revision for e in seen] == sorted(e.revision for e in seen)
        async with started(EtcdStore([member.address for member in reversed(members)])) as store:
            assert {r.key: r.revision for r in store.list("/registry/").records} == acknowledged


async def leader_of(store: EtcdStore, members: list[Member]) -> Member:
    """Return the member that leads, once there is one."""
    request = driver_module.rpc.StatusRequest()

    async def leader() -> Member | None:
        for endpoint, member in zip(store.client.endpoints, members, strict=True):
            status = await endpoint.maintenance.Status(request, timeout=60, wait_for_ready=True)
            if status.leader == status.header.member_id:
                return member
        return None

    return await eventually(leader)


async def test_without_etcd(tmp_path: Path) -> None:
    with etcd(tmp_path) as [member]:
        async with started(EtcdStore([member.address])) as store:
            await store.create("/registry/pods/a", b"x")
            member.kill()
            with pytest.raises(Unavailable, match="cannot be reached"):
                await store.health(0.3)
            assert store.get("/registry/pods/a") is not None
            waiting = asyncio.create_task(store.create("/registry/pods/b", b"x"))
            member.start()
            await waiting
            await store.health()


async def test_snapshot(etcd_member: Member, root: str, tmp_path: Path) -> None:
    async with started(EtcdStore([etcd_member.address], prefix=root)) as store:
        for number in range(300):
            await store.create(f"{root}/pods/{number}", os.urandom(100))
        saved = await store.snapshot_save(tmp_path / "snapshot")
        assert saved.revision == store.revision and saved.total_keys > 300
        with pytest.raises(StoreError, match="exists"):
            await store.snapshot_save(tmp_path / "snapshot")
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot"]
    command = [require_program("etcdctl"), "snapshot", "status", str(tmp_path / "snapshot"), "-w", "json"]
    output = subprocess.run(command, env={"ETCDCTL_API": "3"}, stdout=subprocess.PIPE, check=True).stdout
    assert json.loads(output) == {
        "hash": saved.hash,
        "revision": saved.revision,
        "totalKey": saved.total_keys,
        "totalSize": saved.total_size,
    }
    content = bytearray((tmp_path / "snapshot").read_bytes())
    content[5000] ^= 1
    (tmp_path / "damaged").write_bytes(content)
    (tmp_path / "cut").write_bytes(content[:10_000])
    for name in ("damaged", "cut"):
        with pytest.raises(StoreError, match=name):
            bolt_file.status(tmp_path / name)


def test_versions_whose_progress_can_be_trusted() -> None:
    expected = {
        "3.4.23": False,
        "3.4.25": True,
        "3.5.7": False,
        "3.5.8": True,
        "3.6.0-rc.1": True,
        "?": False,
    }
    assert {version: feed.progress_is_ordered(version) for version in expected} == expected


def test_endpoints_take_turns() -> None:
    async def check() -> None:
        client = EtcdClient(["http://a:1", "http://b:1"])
        first = client.current
        client.leave(first)
        second = client.current
        client.leave(first)  # by someone whose call failed at the same time
        assert client.current is second
        await client.close()

    asyncio.run(check())


@pytest.mark.parametrize(
    ("version", "refused"),
    [("3.5.0", True), ("3.5.1", True), ("3.5.2", True), ("3.5.3", False), ("3.4.23", False), ("3.6.0-rc.1", False), ("x", False)],
)  # fmt: skip
def test_versions_that_corrupt_their_data_are_refused(version: str, refused: bool) -> None:
    with pytest.raises(StoreError, match="can corrupt its data") if refused else contextlib.nullcontext():
        feed.refuse_corrupting(version)


async def test_whoever_waited_too_long_does_not_ask_in_front_of_the_others() -> None:
    """While etcd was silent each caller waited for those before him, and then for as long again."""
    store = EtcdStore(["http://127.0.0.1:1"])
    silent: Any = SimpleNamespace(progress_is_ordered=False)
    store._feed = silent
    now = asyncio.get_running_loop().time()
    with pytest.raises(Unavailable):
        await store._nudge(5, now + 60)  # asks, and there is nobody
    await store._nudge(5, now)
