"""Leases for keys with a time to live, shared by keys that are written about the same time."""

from __future__ import annotations

import asyncio

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient

# A key may live this much longer than asked, so that many share one lease.
SLACK = 0.05
KEYS_PER_LEASE = 1000


class Leases:
    """Grants leases by time to live."""

    def __init__(self, client: EtcdClient) -> None:
        self._client = client
        self._shared: dict[int, tuple[int, float, int]] = {}  # ttl -> lease, usable until, keys left
        self._granting: dict[int, asyncio.Lock] = {}

    async def lease(self, ttl: int) -> int:
        """Return the id of a lease that lasts at least `ttl` seconds, or 0 for no lease."""
        if not ttl:
            return 0
        slack = int(ttl * SLACK)
        async with self._granting.setdefault(ttl, asyncio.Lock()):
            now = asyncio.get_running_loop().time()
            lease, until, left = self._shared.get(ttl, (0, 0.0, 0))
            if left <= 0 or now >= until:
                answer, _ = await self._client.call(
                    lambda endpoint: endpoint.lease.LeaseGrant, rpc.LeaseGrantRequest(TTL=ttl + slack)
                )
                lease, until, left = answer.ID, now + slack, KEYS_PER_LEASE
            self._shared[ttl] = (lease, until, left - 1)
            return lease

    def forget(self, ttl: int) -> None:
        """Grant a new lease next time, since etcd does not know the last one."""
        self._shared.pop(ttl, None)
