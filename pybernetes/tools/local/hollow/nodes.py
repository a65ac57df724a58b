"""Hollow nodes themselves: their Node objects and leases."""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Callable, Sequence

from pybernetes.api.node_address import KUBELET_PORT
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists, Conflict, NotFound, StatusError
from pybernetes.client.refs import LEASES, NODES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock
from pybernetes.tools.local.hollow import stages
from pybernetes.tools.local.hollow.render import render

log = logging.getLogger(__name__)
_LEASE_SECONDS = 40
_RENEW_SECONDS = 10.0
_HEARTBEAT_SECONDS = 300.0
_LEASE_NAMESPACE = "kube-node-lease"
HOLLOW = "pybernetes.dev/hollow"  # the annotation of a Node that is to be a hollow one


def node_address(number: int) -> str:
    """Return the address that the node with a number claims to have."""
    return f"172.31.{number // 250}.{number % 250 + 1}"


class HollowNodes:
    """Registers hollow nodes and keeps them alive: leases and status.

    Those of the given names are registered here. Whoever creates a Node with the annotation makes one more, with the
    labels, taints and resources that it was created with; it goes when its Node is deleted. ``place`` says where the kubelet
    of the node with a number is.
    """

    def __init__(
        self,
        client: Client,
        names: Sequence[str],
        version: str,
        clock: Clock | None = None,
        addresses: set[str] | None = None,
        place: Callable[[int], tuple[str, int]] | None = None,
    ) -> None:
        self._place = place or (lambda number: (node_address(number), KUBELET_PORT))
        self._client, self._version = client, version
        self.numbers = {name: number for number, name in enumerate(names)}  # by name; each gives an address
        self._names: dict[str, str] = {}  # by address, made anew when it does not fit
        self._next = len(names)
        self._addresses = addresses if addresses is not None else set()  # kept for whoever wants to know
        self._addresses.update(map(node_address, range(len(names))))
        self._resources: dict[str, Object] = {}  # of those that others created
        self._clock = clock or Clock()
        self._reported: dict[str, float] = {}
        self._changed = asyncio.Event()
        self._since = rfc3339.seconds(self._clock.now())
        self._leases: dict[str, Object] = {}

    def _node(self, number: int, name: str) -> Object:
        address, port = self._place(number)
        inputs = {
            "name": name, "address": address, "now": rfc3339.seconds(self._clock.now()), "since": self._since,
            "version": self._version, "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        }  # fmt: skip
        node = render(stages.node_template(), {}, inputs)
        node["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": port}}
        node["status"].update(self._resources.get(name, {}))
        return node

    def node_at(self, address: str) -> str | None:
        """Return the node that has an address."""
        name = self._names.get(address)
        if name is None or node_address(self.numbers.get(name, -1)) != address:
            self._names = {node_address(number): known for known, number in self.numbers.items()}
        return self._names.get(address)

    async def register(self) -> None:
        """Create the nodes, or take over those that exist."""
        names = list(self.numbers.items())
        for start in range(0, len(names), 32):
            part = names[start : start + 32]
            await asyncio.gather(*(self._register(number, name) for name, number in part))

    async def take_over_all(self) -> None:
        """Play all nodes that others created to be hollow."""
        for node in (await self._client.list(NODES)).items:
            if self.adopts(node):
                await self.take_over(node)

    def adopts(self, node: Object) -> bool:
        """Return whether a Node is a hollow one that is not known yet."""
        meta = node["metadata"]
        return HOLLOW in (meta.get("annotations") or {}) and meta["name"] not in self.numbers

    async def take_over(self, node: Object) -> None:
        """Play one more node, which somebody created."""
        name, status = node["metadata"]["name"], node.get("status") or {}
        number = self.numbers[name] = self._next
        self._next += 1
        self._addresses.add(node_address(number))
        amounts = {key: status[key] for key in ("capacity", "allocatable") if status.get(key)}
        self._resources[name] = amounts
        try:
            await self._report(number, name)
            await self._renew(name)
        except (StatusError, OSError) as error:
            log.warning("the hollow node %s cannot be registered yet: %s", name, error)
        self._reported[name] = self._clock.monotonic()
        self._changed.set()

    def let_go(self, name: str) -> None:
        """Stop playing a node whose Node was deleted."""
        if name in self._resources:
            self._addresses.discard(node_address(self.numbers[name]))
            del self._resources[name], self.numbers[name]
            self._leases.pop(name, None)
            self._reported.pop(name, None)

    async def _register(self, number: int, name: str) -> None:
        node = self._node(number, name)
        try:
            await self._client.create(NODES, node)
        except AlreadyExists:
            pass
        await self._report(number, name)
        await self._renew(name)

    async def _report(self, number: int, name: str) -> None:
        """Write the status of a node."""
        status = self._node(number, name)["status"]
        await self._client.patch_status(NODES, name, {"status": status})

    async def _renew(self, name: str) -> None:
        """Renew the lease of a node."""
        now = rfc3339.micro(self._clock.now())
        spec = {"holderIdentity": name, "leaseDurationSeconds": _LEASE_SECONDS, "renewTime": now}
        lease = self._leases.get(name)
        try:
            if lease is None:
                lease = {"metadata": {"name": name, "namespace": _LEASE_NAMESPACE}, "spec": spec}
                self._leases[name] = await self._client.create(LEASES, lease)
            else:
                self._leases[name] = await self._client.update(LEASES, {**lease, "spec": spec})
        except AlreadyExists:
            self._leases[name] = await self._client.get(LEASES, name, _LEASE_NAMESPACE)
        except (Conflict, NotFound):
            self._leases.pop(name, None)

    async def run(self) -> None:
        """Renew leases and report until cancelled, one node after the other so that the load is even."""
        self._reported |= dict.fromkeys(self.numbers.keys() - self._reported.keys(), self._clock.monotonic())
        while True:
            while not self.numbers:
                self._changed.clear()
                await self._changed.wait()
            pause = _RENEW_SECONDS / len(self.numbers)
            for name, number in list(self.numbers.items()):
                await self._clock.sleep(pause)
                if name not in self.numbers:
                    continue
                try:
                    await self._renew(name)
                    if self._clock.monotonic() - self._reported[name] > _HEARTBEAT_SECONDS * (
                        0.8 + random.random() / 5
                    ):
                        self._reported[name] = self._clock.monotonic()
                        await self._report(number, name)
                except (StatusError, OSError) as error:
                    log.warning("the node %s cannot show that it is alive: %s", name, error)
