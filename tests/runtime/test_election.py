"""Leader election on a real API server, with a clock that the test moves."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound, StatusError
from pybernetes.client.refs import CONFIG_MAPS, LEASE_CANDIDATES, LEASES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from pybernetes.runtime import Controller, Election, Elector, LostLease, Manager
from tests.cluster import Cluster
from tests.support import eventually


def election(identity: str, **more: Any) -> Election:
    return Election("test", identity=identity, **more)


async def test_the_record_is_upstreams() -> None:
    async with Cluster() as cluster:
        clock = ManualClock(1_800_000_000.25)
        one = Elector(cluster.client, election("one"), clock=clock)
        assert await one.try_once() and one.leading
        lease = await cluster.client.get(LEASES, "test", "kube-system")
        assert lease["spec"] == {
            "holderIdentity": "one",
            "leaseDurationSeconds": 15,
            "acquireTime": "2027-01-15T08:00:00.250000Z",
            "renewTime": "2027-01-15T08:00:00.250000Z",
            "leaseTransitions": 0,
        }
        await clock.advance(2)
        assert await one.try_once()
        renewed = (await cluster.client.get(LEASES, "test", "kube-system"))["spec"]
        assert renewed["renewTime"] == "2027-01-15T08:00:02.250000Z"
        assert renewed["acquireTime"] == "2027-01-15T08:00:00.250000Z"


@pytest.mark.parametrize("jump", [0.0, -3600.0, 3600.0])
async def test_a_holder_is_let_alone_until_its_lease_has_run_out(jump: float) -> None:
    """Whatever the clock on the wall is set to meanwhile."""
    async with Cluster() as cluster:
        clock = ManualClock()
        one = Elector(cluster.client, election("one"), clock=clock)
        two = Elector(cluster.client, election("two"), clock=clock)
        assert await one.try_once()
        assert not await two.try_once() and two.leader == "one"
        await clock.advance(14)
        clock.jump(jump)
        assert not await two.try_once()
        assert await one.try_once()  # renews just in time
        await clock.advance(14)
        assert not await two.try_once()
        await clock.advance(15)
        assert await two.try_once()
        spec = (await cluster.client.get(LEASES, "test", "kube-system"))["spec"]
        assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("two", 1)
        assert not await one.try_once() and one.leader == "two"


async def test_a_lease_that_is_given_back_is_free_at_once() -> None:
    async with Cluster() as cluster:
        clock = ManualClock()
        one = Elector(cluster.client, election("one"), clock=clock)
        two = Elector(cluster.client, election("two"), clock=clock)
        assert await one.try_once()
        await one.release()
        assert not one.leading
        assert await two.try_once()


async def test_whoever_cannot_renew_stops() -> None:
    async with Cluster() as cluster:
        clock = ManualClock()
        one = Elector(cluster.rest_client(), election("one"), clock=clock)
        stopped = asyncio.Event()

        async def lead() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        task = asyncio.create_task(one.run(lead))
        await eventually(lambda: one.leading)
        # Somebody takes the lease away: the server is the judge.
        lease = await cluster.client.get(LEASES, "test", "kube-system")
        spec = {**lease["spec"], "holderIdentity": "two"}
        await cluster.client.update(LEASES, {**lease, "spec": spec})

        async def moved() -> bool:
            await clock.advance(2)
            return task.done()

        await eventually(moved)
        assert stopped.is_set()
        with pytest.raises(LostLease):
            await task


async def test_an_answer_that_comes_late_does_not_prolong_the_lease() -> None:
    """Others count from when the record was stored: so must the holder, however long the answer takes."""
    async with Cluster() as cluster:
        clock = ManualClock()
        client = cluster.rest_client()
        one = Elector(client, election("one"), clock=clock)
        two = Elector(cluster.client, election("two"), clock=clock)
        send = client.transport.send

        async def slow(method: str, *words: Any, **more: Any) -> Any:
            answer = await send(method, *words, **more)
            if method != "GET":
                assert not await two.try_once()  # sees the new record as soon as it is there
                await clock.advance(8)
            return answer

        client.transport.send = slow  # type: ignore[method-assign]
        assert await one.try_once()
        one.check()
        await clock.advance(2)  # ten seconds since the lease was asked for
        with pytest.raises(LostLease, match="is not known to be held"):
            one.check()
        await clock.advance(4)
        assert not await two.try_once()
        await clock.advance(1)
        assert await two.try_once()


async def test_who_cannot_renew_writes_nothing_more() -> None:
    """A process that was stopped for a while finds the guard before it finds out that somebody else leads."""
    async with Cluster() as cluster:
        clock = ManualClock()
        manager = Manager(cluster.rest_client(), election=election("one"), clock=clock)
        client, elector = manager.runtime.client, manager.elector
        assert elector is not None
        made = {"metadata": {"name": "a", "namespace": "default"}}
        with pytest.raises(LostLease):
            await client.create(CONFIG_MAPS, made)  # nobody leads yet
        assert await elector.try_once()
        await client.create(CONFIG_MAPS, made)
        await clock.advance(20)
        two = Elector(cluster.client, election("two"), clock=clock)
        assert not await two.try_once()
        await clock.advance(15)
        assert await two.try_once()
        await client.get(CONFIG_MAPS, "a", "default")  # whoever reads harms nobody
        for write in (
            client.update(CONFIG_MAPS, made),
            client.delete(CONFIG_MAPS, "a", "default"),
            client.patch(CONFIG_MAPS, "a", {"data": {}}, "default"),
        ):
            with pytest.raises(LostLease):
                await write
        assert not await elector.try_once() and elector.leader == "two"
        with pytest.raises(LostLease):
            elector.check()
        await manager.runtime.close()


async def test_a_renewal_that_hangs_ends_the_work_in_time() -> None:
    async with Cluster() as cluster:
        clock = ManualClock()
        client = cluster.rest_client()
        one = Elector(client, election("one", renew_seconds=3.0, retry_seconds=0.5), clock=clock)
        assert await one.try_once()
        send, asked = client.transport.send, asyncio.Event()

        async def hang(method: str, *words: Any, **more: Any) -> Any:
            if method == "GET":
                return await send(method, *words, **more)
            asked.set()
            return await asyncio.Event().wait()

        client.transport.send = hang  # type: ignore[method-assign]
        holding = asyncio.create_task(one.hold())
        await clock.advance(0.5)
        await asked.wait()
        await clock.advance(2.4)
        one.check()
        await clock.advance(0.1)
        with pytest.raises(LostLease):
            one.check()
        holding.cancel()


async def test_a_lease_that_is_deleted_and_taken_by_another() -> None:
    async with Cluster() as cluster:
        clock = ManualClock()
        client = cluster.rest_client()
        one = Elector(client, election("one"), clock=clock)
        two = Elector(cluster.client, election("two"), clock=clock)
        assert await one.try_once()
        await cluster.client.delete(LEASES, "test", "kube-system")
        assert await one.try_once()  # nobody else wanted it
        await cluster.client.delete(LEASES, "test", "kube-system")
        send = client.transport.send

        async def beaten(method: str, *words: Any, **more: Any) -> Any:
            if method != "GET" and not two.leading:
                assert await two.try_once()
            return await send(method, *words, **more)

        client.transport.send = beaten  # type: ignore[method-assign]
        assert not await one.try_once() and one.leader == "two"  # known at once, not at the next attempt
        with pytest.raises(LostLease):
            one.check()


class Counter(Controller):
    name = "counter"
    kind = CONFIG_MAPS
    running = 0
    most = 0
    seen: list[tuple[int, str]] = []

    async def reconcile(self, key: str) -> float | None:
        cls = type(self)
        cls.running += 1
        cls.most = max(cls.most, cls.running)
        cls.seen.append((id(self), key))
        await asyncio.sleep(0)
        cls.running -= 1
        return None


async def test_two_managers_exclude_each_other() -> None:
    async with Cluster() as cluster:
        Counter.seen.clear()
        times = {"lease_seconds": 60, "renew_seconds": 40, "retry_seconds": 0.05}
        managers = [
            Manager(cluster.rest_client(), election=election(name, **times)) for name in ("one", "two")
        ]
        controllers = [manager.add(Counter) for manager in managers]
        tasks = [asyncio.create_task(manager.run()) for manager in managers]
        await eventually(lambda: any(manager.working.is_set() for manager in managers))
        first = 0 if managers[0].working.is_set() else 1
        second = 1 - first
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        await eventually(lambda: "default/a" in [key for _, key in Counter.seen])
        assert not managers[second].working.is_set()
        assert {owner for owner, _ in Counter.seen} == {id(controllers[first])}
        tasks[first].cancel()
        await asyncio.gather(tasks[first], return_exceptions=True)
        await eventually(managers[second].working.is_set)
        await eventually(lambda: (id(controllers[second]), "default/a") in Counter.seen)
        assert b'leader_election_master_status{name="test"} 1' in managers[second].metrics.render()
        assert b'leader_election_master_status{name="test"} 0' in managers[first].metrics.render()
        tasks[second].cancel()
        await asyncio.gather(tasks[second], return_exceptions=True)


@pytest.mark.parametrize(
    "times", [{"lease_seconds": 10, "renew_seconds": 10}, {"renew_seconds": 2.4, "retry_seconds": 2}]
)
def test_times_that_cannot_work_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="greater"):
        election("one", **times)


class Stuck:
    """A transport whose calls never come to an end."""

    async def send(self, *arguments: Any, **options: Any) -> Any:
        await asyncio.Event().wait()

    watch = stream = upgrade = send

    async def close(self) -> None:
        pass


async def test_a_lease_does_not_wait_behind_other_calls() -> None:
    async with Cluster() as cluster:
        election = Election("busy", identity="me", lease_seconds=60, renew_seconds=40, retry_seconds=0.05)
        busy: Any = Stuck()
        manager = Manager(Client(busy), election=election, election_client=cluster.rest_client())
        manager.add(Counter(manager.runtime))  # without any work it would give the lease back at once
        task = asyncio.create_task(manager.run())

        async def held() -> bool:
            leases = (await cluster.client.list(LEASES)).items
            return any(lease["spec"].get("holderIdentity") == "me" for lease in leases)

        await eventually(held)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


COORDINATED = (
    "--feature-gates=CoordinatedLeaderElection=true",
    "--runtime-config=coordination.k8s.io/v1beta1=true",
)


class Quiet(Controller):
    name = "quiet"
    kind = CONFIG_MAPS

    async def reconcile(self, key: str) -> float | None:
        return None


async def test_the_server_chooses_among_candidates() -> None:
    async with Cluster(*COORDINATED) as cluster:
        managers = {
            name: Manager(cluster.rest_client(), election=election(name, coordinated=True)) for name in ("one", "two")
        }  # fmt: skip
        tasks = {}
        for name, manager in managers.items():
            manager.add(Quiet)
            tasks[name] = asyncio.create_task(manager.run())
        await eventually(lambda: any(manager.working.is_set() for manager in managers.values()), 60)
        lease = await cluster.client.get(LEASES, "test", "kube-system")
        assert lease["spec"]["strategy"] == "OldestEmulationVersion"
        first = lease["spec"]["holderIdentity"]
        second = "two" if first == "one" else "one"
        assert not managers[second].working.is_set()
        # The first one stops and gives the lease back: the server gives it to the other.
        tasks[first].cancel()
        await asyncio.gather(tasks[first], return_exceptions=True)
        await eventually(managers[second].working.is_set, 60)
        # An older version turns up: who leads stops by itself.
        old = {
            "leaseName": "test",
            "binaryVersion": "1.36.0",
            "emulationVersion": "1.36.0",
            "strategy": "OldestEmulationVersion",
        }
        made = {
            "metadata": {"name": "old", "namespace": "kube-system"},
            "spec": {**old, "renewTime": rfc3339.micro(time.time())},
        }
        await cluster.client.create(LEASE_CANDIDATES, made)
        with pytest.raises(LostLease):
            await asyncio.wait_for(tasks[second], 60)
        assert not managers[second].working.is_set()


async def test_candidates_are_served_where_somebody_says_so() -> None:
    async with Cluster() as cluster:
        with pytest.raises(NotFound):
            await cluster.client.list(LEASE_CANDIDATES)
    async with Cluster(*COORDINATED) as cluster:
        wrong = {
            "metadata": {"name": "a", "namespace": "default"},
            "spec": {"binaryVersion": "v1", "strategy": "OldestEmulationVersion"},
        }
        with pytest.raises(StatusError) as refused:
            await cluster.client.create(LEASE_CANDIDATES, wrong)
        text = str(refused.value)
        assert "spec.leaseName: Required value" in text and "must be a valid semantic version" in text
        assert "spec.emulationVersion: Required value: must be specified when `strategy`" in text
