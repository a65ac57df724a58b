"""No node ever gets more than it has: with many pods at once, two schedulers of one lease, and restarts."""

from __future__ import annotations

import asyncio
import random

import pytest

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import NODES, PODS
from pybernetes.control_plane.scheduler.scheduler import Scheduler
from pybernetes.runtime.election import Election
from pybernetes.runtime.manager import Manager
from pybernetes.scheduling.config import Configuration, profile_config
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import add_node, scheduling
from tests.scheduling.builders import node, pod
from tests.support import eventually


class Ledger:
    """Follows every change of every pod and keeps the books of the nodes."""

    def __init__(self, capacity: dict[str, int], slots: dict[str, int]) -> None:
        self._capacity, self._slots = capacity, slots
        self._where: dict[str, tuple[str, int]] = {}  # by uid: node and CPU
        self.bound = 0
        self.problems: list[str] = []

    def take(self, type_: str, obj: Object) -> None:
        uid, on = obj["metadata"]["uid"], obj["spec"].get("nodeName", "")
        known = self._where.get(uid)
        if type_ == "DELETED":
            self._where.pop(uid, None)
        elif on and known is None:
            self.bound += 1
            self._where[uid] = (
                on,
                quantity.milli(obj["spec"]["containers"][0]["resources"]["requests"]["cpu"]),
            )
            here = [cpu for name, cpu in self._where.values() if name == on]
            if sum(here) > self._capacity[on] or len(here) > self._slots[on]:
                self.problems.append(
                    f"{on} has {sum(here)} of {self._capacity[on]}m, {len(here)} of {self._slots[on]} pods"
                )
        elif known is not None and known[0] != on:
            self.problems.append(f"{uid} moved from {known[0]} to {on}")

    async def follow(self, client: Client) -> None:
        async with client.watch(PODS, initial=True) as events:
            while batch := await events.batch():
                for type_, obj in batch:
                    if type_ != "BOOKMARK":
                        self.take(type_, obj)


async def candidate(client: Client, name: str) -> None:
    """A scheduler that takes part in an election, until it is cancelled."""
    election = Election(
        "kube-scheduler", identity=name, lease_seconds=20, renew_seconds=15, retry_seconds=0.05
    )
    manager = Manager(client, election=election)
    manager.add_task("scheduler", Scheduler(client).run)
    await manager.run()


@pytest.mark.parametrize("seed", [1, 2])
async def test_nodes_are_never_overcommitted(seed: int) -> None:
    chance = random.Random(seed)
    async with Cluster() as cluster:
        client = cluster.client
        capacity = {f"n{number}": chance.choice((1000, 2000, 3500)) for number in range(6)}
        slots = {name: chance.choice((4, 8, 110)) for name in capacity}
        for name, cpu in capacity.items():
            await add_node(client, node(name, cpu=f"{cpu}m", pods=str(slots[name])))
        ledger = Ledger(capacity, slots)
        following = asyncio.create_task(ledger.follow(client))
        tasks = {name: asyncio.create_task(candidate(cluster.rest_client(), name)) for name in ("one", "two")}
        names: list[str] = []
        for number in range(120):
            names.append(f"p{number}")
            await client.create(PODS, pod(names[-1], cpu=chance.choice(("100m", "300m", "700m"))))
            if number % 25 == 24:  # the one that leads, or the other, is stopped in the middle of its work
                name = chance.choice(list(tasks))
                tasks[name].cancel()
                await asyncio.gather(tasks[name], return_exceptions=True)
                tasks[name] = asyncio.create_task(candidate(cluster.rest_client(), name))
            if chance.random() < 0.2 and len(names) > 20:
                await client.delete(PODS, names.pop(chance.randrange(len(names))), "default", grace=0)

        async def settled() -> bool:
            """Return whether every pod has a node, or was told why not."""
            pods = (await client.list(PODS)).items
            return all(pod["spec"].get("nodeName") or pod["status"].get("conditions") for pod in pods)

        await eventually(settled, seconds=60)
        for task in (*tasks.values(), following):
            task.cancel()
        await asyncio.gather(*tasks.values(), following, return_exceptions=True)
        assert ledger.problems == []
        assert ledger.bound >= 20
        assert len((await client.list(NODES)).items) == 6


async def test_schedulers_of_two_names_share_their_books() -> None:
    names = ("one", "two")
    configuration = Configuration(profiles=[profile_config({"schedulerName": name}, 0) for name in names])
    async with Cluster() as cluster, scheduling(cluster.client, configuration):
        client = cluster.client
        capacity = {f"n{number}": 2000 for number in range(4)}
        for name in capacity:
            await add_node(client, node(name, cpu="2"))
        ledger = Ledger(capacity, dict.fromkeys(capacity, 110))
        following = asyncio.create_task(ledger.follow(client))
        pods = [pod(f"p{number}", cpu="300m", schedulerName=names[number % 2]) for number in range(30)]
        await asyncio.gather(*(client.create(PODS, placed) for placed in pods))
        await eventually(lambda: ledger.bound == 24, seconds=60)  # six on each node
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        assert ledger.problems == []
