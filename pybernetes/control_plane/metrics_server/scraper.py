"""Asks all kubelets, again and again while somebody wants to know, and not at all when nobody does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from pybernetes.api.resource import Object
from pybernetes.api.selectors import EVERYTHING, Selector
from pybernetes.client.client import Client
from pybernetes.client.refs import NODES
from pybernetes.control_plane.metrics_server.decode import TooMuch, decode
from pybernetes.control_plane.metrics_server.kubelet_client import ScrapeFailed
from pybernetes.control_plane.metrics_server.own_metrics import OwnMetrics
from pybernetes.control_plane.metrics_server.storage import Storage
from pybernetes.lib.clock import Clock
from pybernetes.lib.memory import gc_tuning
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.transforms import kept

log = logging.getLogger(__name__)
# Between the two samples that the first question of all is answered from.
PAIR_SECONDS = 0.5
# How long the first question waits for them, and how much longer for each node; kubelets that are slower are left out.
_FIRST_SECONDS = 2.0
_SECONDS_PER_NODE = 0.005
_LEAST_IDLE_SECONDS = 120.0
_IDLE_ROUNDS = 4
# A connection with TLS takes some 300 kB while it is used.
_AT_ONCE = 32
# Longer answers are read in a thread: the loop is for those who ask.
_LARGE = 128 * 1024


class Kubelets(Protocol):
    """What asks one kubelet."""

    async def fetch(self, node: Object) -> bytes: ...

    def forget(self, name: str) -> None: ...

    def close(self) -> None: ...


class Scraper:
    """The loop: two rounds when the first question comes, then one per resolution until nobody has asked for a while."""

    def __init__(
        self,
        client: Client,
        kubelets: Kubelets,
        storage: Storage,
        metrics: OwnMetrics,
        *,
        resolution: float = 60.0,
        selector: Selector = EVERYTHING,
        clock: Clock | None = None,
    ) -> None:
        self._client, self._kubelets, self._storage, self._metrics = client, kubelets, storage, metrics
        self._resolution, self._selector, self._clock = resolution, selector, clock or Clock()
        self._idle_seconds = max(_LEAST_IDLE_SECONDS, _IDLE_ROUNDS * resolution)
        self._asked = 0.0
        self._task: asyncio.Task[None] | None = None
        self._paired = asyncio.Event()
        self._failed: set[str] = set()
        self._round_began: float | None = None
        self.nodes: Informer | None = None  # there while it runs

    @property
    def running(self) -> bool:
        """Whether kubelets are being asked."""
        return self._task is not None and not self._task.done()

    async def wanted(self) -> None:
        """Note that somebody asks; return when there is something to answer with."""
        self._asked = self._clock.monotonic()
        if not self.running:
            self._paired.clear()
            self._task = asyncio.create_task(self._run(), name="scrape")
        if not self._paired.is_set() and self._task is not None:
            paired = asyncio.create_task(self._paired.wait())
            try:
                await asyncio.wait((paired, self._task), return_when=asyncio.FIRST_COMPLETED)
            finally:
                paired.cancel()

    async def stop(self) -> None:
        """Ask nobody any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def check_storage(self) -> str | None:
        """Return what is wrong with what is stored; at rest nothing is, because a question brings it."""
        if self.running and self._paired.is_set() and len(self._chosen()) and not self._storage.counts()[0]:
            return "no metrics to serve"
        return None

    def check_timely(self) -> str | None:
        """Return what is wrong with the round that goes on."""
        began = self._round_began
        if began is not None and self._clock.monotonic() - began > 1.5 * self._resolution:
            return "metric collection didn't finish on time"
        return None

    def check_informer(self) -> str | None:
        """Return what is wrong with what is known of nodes."""
        if self.nodes is not None and not self.nodes.synced:
            return "cache for node informer has not synced"
        return None

    # -- the loop ----------------------------------------------------------------------------------------

    async def _run(self) -> None:
        fields = kept("status.addresses", "status.daemonEndpoints")
        self.nodes = Informer(self._client, NODES, transform=fields, clock=self._clock)
        following = asyncio.create_task(self.nodes.run(), name="nodes")
        try:
            await self._pair(self.nodes)
            due = self._clock.monotonic()
            while self._clock.monotonic() - self._asked < self._idle_seconds:
                due = max(due + self._resolution, self._clock.monotonic())
                await self._clock.sleep(due - self._clock.monotonic())
                await self.round(self._chosen())
        finally:
            following.cancel()
            self._paired.clear()
            self._storage.keep(())
            self._kubelets.close()
            self.nodes = self._round_began = None

    async def _pair(self, nodes: Informer) -> None:
        """Take two samples of every node, one shortly after the other; the slow ones do not hold up the others."""
        synced = asyncio.create_task(nodes.wait_synced(), name="synced")
        pair: asyncio.Task[None] | None = None
        try:
            await asyncio.wait([synced], timeout=_FIRST_SECONDS)
            if not synced.done():
                self._paired.set()  # to tell of no node is better than to say nothing
                await synced
            chosen = self._chosen()
            pair = asyncio.create_task(self.round(chosen, samples=2), name="pair")
            await asyncio.wait([pair], timeout=_FIRST_SECONDS + len(chosen) * _SECONDS_PER_NODE)
            self._paired.set()
            await pair
        finally:
            for task in (synced, pair):
                if task is not None:
                    task.cancel()

    def _chosen(self) -> list[Object]:
        """Return the nodes to ask; those that did not answer the last time come last."""
        nodes = self.nodes.select(self._selector) if self.nodes is not None else []
        return sorted(nodes, key=lambda node: node["metadata"]["name"] in self._failed)

    async def round(self, nodes: Sequence[Object], samples: int = 1) -> None:
        """Ask every node, and again after a moment if there are to be more samples than one."""
        began = self._round_began = self._clock.monotonic()
        # Each sample has turns of its own: the second of some nodes does not wait for the first of all others.
        turns = [asyncio.Semaphore(_AT_ONCE // samples) for _ in range(samples)]
        succeeded: set[str] = set()

        async def one(node: Object) -> None:
            for number in range(samples):
                if number:
                    await self._clock.sleep(PAIR_SECONDS)
                async with turns[number]:
                    success = await self._scrape(node)
                if not success:
                    return
            succeeded.add(node["metadata"]["name"])

        try:
            async with asyncio.timeout(self._resolution), asyncio.TaskGroup() as group:
                for node in nodes:
                    group.create_task(one(node))
        except TimeoutError:
            log.warning("kubelets did not answer within %g s: %d of %d", self._resolution,
                        len(nodes) - len(succeeded), len(nodes))  # fmt: skip
        names = {node["metadata"]["name"] for node in nodes}
        for gone in self._metrics.request_times.keys() - names:
            self._metrics.forget(gone)
            self._kubelets.forget(gone)
        self._failed = names - succeeded
        self._storage.keep(succeeded)
        self._metrics.rounds.observe(self._clock.monotonic() - began)
        self._round_began = None
        if len(nodes) > _AT_ONCE:  # a round leaves holes, and the next one is far away
            await asyncio.to_thread(gc_tuning.return_memory)

    async def _scrape(self, node: Object) -> bool:
        name, began, success = node["metadata"]["name"], self._clock.monotonic(), False
        try:
            body = await self._kubelets.fetch(node)
            now = self._clock.now()
            if len(body) > _LARGE:
                await asyncio.to_thread(self._keep, name, body, now)
            else:
                self._keep(name, body, now)
            success = True
        except (ScrapeFailed, TooMuch, OSError) as error:
            level = logging.DEBUG if name in self._failed else logging.WARNING
            log.log(level, "failed to scrape node %s: %s", name, error)
        finally:
            self._metrics.requested(name, success, self._clock.monotonic() - began, self._clock.now())
        return success

    def _keep(self, name: str, body: bytes, now: float) -> None:
        self._storage.store(name, decode(body, now))
