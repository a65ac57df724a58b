"""Which API servers share a store: each says so in a lease that ends with it.

The endpoints of the service ``kubernetes`` are those servers. A server that is alone with its store needs no lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from pybernetes.api.core import endpoints
from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import DELETE, modify
from pybernetes.control_plane.store.protocol import Event, Store, StoreError

log = logging.getLogger(__name__)
LEASES = "/registry/masterleases/"
# A lease ends this many seconds after it was last renewed.
_LEASES = Kind(replace(endpoints.RESOURCE, ttl=15))
_RENEW_SECONDS = 10.0
_LEAVE_SECONDS = 5.0


class ServerLeases:
    """The servers, this one among them."""

    def __init__(self, store: Store, address: str) -> None:
        self._store, self._address = store, address
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._left = False

    def addresses(self) -> list[str]:
        """Return the addresses of the servers that are there."""
        addresses = {self._address}
        if not self._store.local:
            addresses |= {record.key.removeprefix(LEASES) for record in self._store.list(LEASES).records}
        return sorted(addresses - {self._address} if self._left else addresses)

    async def join(self) -> None:
        """Write the lease; one that cannot be written, as without the plug-in that encrypts it, is tried again later."""
        await self._try(self._join)

    async def _join(self) -> None:
        """Write the lease, or renew it before it ends."""
        if self._store.local:
            return
        lease = {
            "kind": "Endpoints",
            "apiVersion": "v1",
            "metadata": {},
            "subsets": [{"addresses": [{"ip": self._address}]}],
        }
        await modify(self._store, _LEASES, LEASES + self._address, lambda before: lease)

    def start(self, make: Callable[[], Awaitable[None]]) -> None:
        """Keep the lease, and call ``make`` when servers come and go."""
        if self._store.local:
            return
        self._watch()
        self._task = asyncio.create_task(self._run(make))

    def _watch(self) -> None:
        def seen(events: Iterable[Event]) -> None:
            self._changed.set()

        def closed(error: StoreError | None) -> None:
            if error is not None:
                self._watch()
                self._changed.set()

        self._store.watch(LEASES, 0, seen, closed=closed)

    async def _run(self, make: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                async with asyncio.timeout(_RENEW_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                await self.join()
            self._changed.clear()
            await self._try(make)

    async def _try(self, do: Callable[[], Awaitable[None]]) -> None:
        try:
            await do()
        except (StoreError, StatusError) as error:
            log.warning("cannot say that this server is there: %s", error)

    async def leave(self, make: Callable[[], Awaitable[None]]) -> None:
        """End the lease: nobody is to be sent here any more."""
        if self._store.local:
            return
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._left = True
        try:
            async with asyncio.timeout(_LEAVE_SECONDS):
                await modify(self._store, _LEASES, LEASES + self._address, lambda lease: DELETE)
                await make()
        except (TimeoutError, StoreError, StatusError) as error:
            log.info("the lease of this server ends by itself: %s", error)
