"""The heartbeat of the node: a Lease that is renewed every quarter of its duration."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client import Client, Conflict, NotFound, StatusError
from pybernetes.client.refs import LEASES
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import Clock

log = logging.getLogger(__name__)
NAMESPACE = "kube-node-lease"


class NodeLease:
    """The lease of one node. ``owner`` gives the Node object once it is registered."""

    def __init__(
        self, client: Client, clock: Clock, name: str, seconds: int, owner: Callable[[], Object]
    ) -> None:
        self._client, self._clock, self._name, self._seconds, self._owner = (
            client,
            clock,
            name,
            seconds,
            owner,
        )
        self._lease: Object | None = None

    async def run(self) -> None:
        """Renew the lease until cancelled."""
        delay = 0.2
        while True:
            try:
                await self._renew()
                delay = 0.2
            except Conflict:
                self._lease = None
                continue
            except (StatusError, OSError) as error:
                log.warning("the lease of the node cannot be renewed: %s", error)
                await self._clock.sleep(delay)
                delay = min(7.0, delay * 2)
                continue
            await self._clock.sleep(self._seconds / 4 * (1 + random.random() * 0.04))

    async def _renew(self) -> None:
        if self._lease is None:
            try:
                self._lease = await self._client.get(LEASES, self._name, NAMESPACE)
            except NotFound:
                self._lease = await self._client.create(LEASES, self._fresh())
                return
        spec = {**self._lease.get("spec", {}), "holderIdentity": self._name,
                "leaseDurationSeconds": self._seconds, "renewTime": rfc3339.micro(self._clock.now())}  # fmt: skip
        wanted = {**self._lease, "spec": spec}
        self._own(wanted["metadata"])
        try:
            self._lease = await self._client.update(LEASES, wanted)
        except NotFound:
            self._lease = None

    def _fresh(self) -> Object:
        meta: Object = {"name": self._name, "namespace": NAMESPACE}
        self._own(meta)
        return {
            "metadata": meta,
            "spec": {
                "holderIdentity": self._name,
                "leaseDurationSeconds": self._seconds,
                "renewTime": rfc3339.micro(self._clock.now()),
            },
        }

    def _own(self, meta: Object) -> None:
        node = self._owner()
        if node.get("metadata", {}).get("uid") and not meta.get("ownerReferences"):
            meta["ownerReferences"] = [
                {"apiVersion": "v1", "kind": "Node", "name": self._name, "uid": node["metadata"]["uid"]}
            ]
