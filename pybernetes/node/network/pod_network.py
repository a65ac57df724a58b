"""Keeps a node joined to the others: works anew whenever a Node object or the kernel's state changes."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pybernetes.client.client import Client
from pybernetes.client.refs import NODES
from pybernetes.lib.clock import Clock
from pybernetes.node.network import cni, firewall, netlink
from pybernetes.node.network.plan import Configuration, Peer, Plan, peer, plan
from pybernetes.runtime.informer import Informer

log = logging.getLogger(__name__)
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 30.0


class PodNetwork:
    """The pod network of one node, in the network namespace of the thread that runs it."""

    def __init__(
        self, client: Client, node_name: str, configuration: Configuration, clock: Clock | None = None
    ) -> None:
        self.name, self.configuration = node_name, configuration
        self.clock = clock or Clock()
        self.nodes = Informer(client, NODES, transform=_slim)
        self.nodes.add_handler(self._node_changed)
        self.applied: Plan | None = None  # what the kernel was last brought to
        self.rounds = 0
        self._dirty = asyncio.Event()
        self._filtered: Plan | None = None
        self._problems: tuple[str, ...] = ()

    def _node_changed(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        # Heartbeats change nodes all the time; only ranges and addresses matter here.
        if old is None or new is None or peer(old) != peer(new):
            self._dirty.set()

    async def run(self) -> None:
        """Works until it is cancelled; what it made stays, so that pods keep their network."""
        news = netlink.News(self._dirty.set)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self.nodes.run())
                group.create_task(self._work())
        finally:
            news.close()

    async def _work(self) -> None:
        await self.nodes.wait_synced()
        delay = _FIRST_DELAY
        while True:
            self._dirty.clear()
            try:
                await self.bring()
                delay = _FIRST_DELAY
            except Exception as error:
                log.warning("the pod network of %s is not complete: %s; trying again", self.name, error)
                self.clock.call_later(delay, self._dirty.set)
                delay = min(_LONGEST_DELAY, delay * 2)
            await self._dirty.wait()

    async def bring(self) -> None:
        """Makes this node match the Node objects, once."""
        peers = [peer(each) for each in self.nodes.values()]
        own = next((each for each in peers if each.name == self.name), Peer(self.name, (), ()))
        if not own.addresses or not own.ranges:
            return
        wanted: Plan | None = None

        async def work(kernel: netlink.Kernel) -> None:
            nonlocal wanted
            link, mtu = await kernel.underlay(own.addresses[0])
            if not link:
                raise OSError(f"no link of this machine has the node's address {own.addresses[0]}")
            wanted = plan(own, peers, self.configuration, mtu)
            if wanted is not None:
                await kernel.apply(wanted, link)

        await asyncio.to_thread(netlink.converse, work)
        if wanted is None:
            return
        if wanted != self._filtered:
            versions = sorted({each.version for each in wanted.cluster})
            await firewall.apply(wanted, versions, masquerade=self.configuration.masquerade)
            self._filtered = wanted
        if self.configuration.cni_folder is not None:
            ranges = [str(each) for each in own.ranges]
            cni.write(
                self.configuration.cni_folder, ranges, mtu=wanted.mtu, state=self.configuration.cni_state
            )
        if wanted.problems != self._problems:
            self._problems = wanted.problems
            for problem in wanted.problems:
                log.warning("%s: its pods can not be reached from here", problem)
        if wanted != self.applied:
            log.info("%s is joined to %d ranges of pods", self.name, len(wanted.routes))
        self.applied = wanted
        self.rounds += 1


def _slim(node: dict[str, Any]) -> dict[str, Any]:
    """A Node object with no more than is looked at here."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    return {
        "metadata": {key: node["metadata"].get(key) for key in ("name", "resourceVersion")},
        "spec": {key: spec[key] for key in ("podCIDR", "podCIDRs") if key in spec},
        "status": {"addresses": status.get("addresses") or []},
    }


async def run(client: Client, node_name: str, configuration: Configuration) -> None:
    """Keeps a node's pod network as the cluster wants it until cancelled."""
    await PodNetwork(client, node_name, configuration).run()
