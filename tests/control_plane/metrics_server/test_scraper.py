"""When kubelets are asked, and what a slow one does to the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pybernetes.api.resource import Object
from pybernetes.client.refs import NODES
from pybernetes.control_plane.metrics_server.kubelet_client import ScrapeFailed
from pybernetes.control_plane.metrics_server.own_metrics import OwnMetrics
from pybernetes.control_plane.metrics_server.scraper import Scraper
from pybernetes.control_plane.metrics_server.storage import Storage
from pybernetes.lib.clock import Clock, ManualClock
from tests.cluster import Cluster
from tests.support import eventually


class Kubelets:
    """Answer with one core each; some do not answer, some do never end."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.fetched: list[str] = []
        self.failing: set[str] = set()
        self.hanging: set[str] = set()
        self.closed = 0

    async def fetch(self, node: Object) -> bytes:
        name = node["metadata"]["name"]
        self.fetched.append(name)
        if name in self.hanging:
            await asyncio.get_running_loop().create_future()
        if name in self.failing:
            raise ScrapeFailed("connection refused")
        now = self._clock.now()
        return f"node_cpu_usage_seconds_total {now} {int(now * 1000)}\nnode_memory_working_set_bytes 5\n".encode()

    def forget(self, name: str) -> None:
        pass

    def close(self) -> None:
        self.closed += 1


@asynccontextmanager
async def scraping(*names: str, clock: Clock) -> AsyncIterator[tuple[Scraper, Kubelets, Storage, Cluster]]:
    async with Cluster() as cluster:
        for name in names:
            await cluster.client.create(NODES, {"metadata": {"name": name}})
        kubelets, storage = Kubelets(clock), Storage(15)
        scraper = Scraper(cluster.client, kubelets, storage, OwnMetrics(15), resolution=15, clock=clock)
        try:
            yield scraper, kubelets, storage, cluster
        finally:
            await scraper.stop()


async def moving(clock: ManualClock, scraper: Scraper) -> None:
    """Ask while time passes."""
    asking = asyncio.create_task(scraper.wanted())

    async def answered() -> bool:
        if clock.sleepers:  # until nodes are known, nothing waits for time to pass
            await clock.advance(0.1)
        return asking.done()

    await eventually(answered)
    await asking


async def test_nobody_is_asked_until_somebody_asks_and_again_when_nobody_does() -> None:
    clock = ManualClock()
    async with scraping("a", "b", clock=clock) as (scraper, kubelets, storage, _):
        await clock.advance(1000)
        assert not kubelets.fetched and not scraper.running
        assert scraper.check_storage() is None and scraper.check_informer() is None
        await moving(clock, scraper)
        assert sorted(kubelets.fetched) == ["a", "a", "b", "b"]
        used = storage.node("a")
        assert used is not None and abs(used.cpu - 10**9) < 10**7
        await clock.advance(15)
        await eventually(lambda: len(kubelets.fetched) == 6)

        async def ended() -> bool:
            await clock.advance(15)
            return not scraper.running

        await eventually(ended)
        count = len(kubelets.fetched)
        assert count < 6 + 2 * 12
        await clock.advance(1000)
        assert len(kubelets.fetched) == count and storage.node("a") is None and kubelets.closed == 1
        await moving(clock, scraper)
        assert storage.node("a") is not None


async def test_one_that_does_not_answer_holds_up_nobody() -> None:
    async with scraping("a", "b", "c", clock=Clock()) as (scraper, kubelets, storage, _):
        kubelets.hanging, kubelets.failing = {"b"}, {"c"}
        began = asyncio.get_running_loop().time()
        await scraper.wanted()
        assert asyncio.get_running_loop().time() - began < 10
        assert storage.node("a") is not None and scraper.check_timely() is None
        assert storage.node("b") is None and storage.node("c") is None


async def test_a_new_node_is_seen_and_a_gone_one_forgotten() -> None:
    clock = ManualClock()
    async with scraping("a", clock=clock) as (scraper, _, storage, cluster):
        await moving(clock, scraper)
        await cluster.client.create(NODES, {"metadata": {"name": "b"}})
        await cluster.client.delete(NODES, "a")

        async def changed() -> bool:
            await scraper.wanted()
            await clock.advance(15)
            return storage.node("b") is not None and storage.node("a") is None

        await eventually(changed)
