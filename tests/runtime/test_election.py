"""Leader election on a real API server, with a clock that the test moves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pybernetes.client.client import Client
from pybernetes.client.refs import CONFIG_MAPS, LEASES
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
