"""Hollow nodes themselves: their Node objects and leases."""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Sequence

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


def node_address(number: int) -> str:
    """Return the address that the node with a number claims to have."""
    return f"172.31.{number // 250}.{number % 250 + 1}"


class HollowNodes:
    """Registers hollow nodes and keeps them alive: leases and status."""

    def __init__(
        self, client: Client, names: Sequence[str], version: str, clock: Clock | None = None
    ) -> None:
        self._client, self._names, self._version = client, list(names), version
        self._clock = clock or Clock()
        self._since = rfc3339.seconds(self._clock.now())
        self._leases: dict[str, Object] = {}

    def _node(self, number: int, name: str) -> Object:
        inputs = {
            "name": name, "address": node_address(number), "now": rfc3339.seconds(self._clock.now()), "since": self._since,
            "version": self._version, "uuid": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)),
        }  # fmt: skip
        return render(stages.node_template(), {}, inputs)

    async def register(self) -> None:
        """Create the nodes, or take over those that exist."""
        for start in range(0, len(self._names), 32):
            part = list(enumerate(self._names))[start : start + 32]
            await asyncio.gather(*(self._register(number, name) for number, name in part))

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
        reported = dict.fromkeys(self._names, self._clock.monotonic())
        while True:
            pause = _RENEW_SECONDS / max(1, len(self._names))
            for number, name in enumerate(self._names):
                await self._clock.sleep(pause)
                try:
                    await self._renew(name)
                    if self._clock.monotonic() - reported[name] > _HEARTBEAT_SECONDS * (
                        0.8 + random.random() / 5
                    ):
                        reported[name] = self._clock.monotonic()
                        await self._report(number, name)
                except (StatusError, OSError) as error:
                    log.warning("the node %s cannot show that it is alive: %s", name, error)
