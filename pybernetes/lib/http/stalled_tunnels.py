"""Tunnels whose bytes somebody does not take: what is on its way in them counts as answers do that nobody reads.

A tunnel holds what one side has sent and the other has not taken, and there is nothing wrong with that: a process may read its
input when it likes. But it takes a megabyte and a half, so that one owner may have no more of them than of answers that
clients leave unread. The one that has stood still longest goes then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pybernetes.lib.event_loop.discarding import discard_later
from pybernetes.lib.http.client_connection import ClientConnection
from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.unread import Unread, Written

# What stands still for less is only slow.
_SECONDS = 2.0
# What is held then, measured: by TLS, by the one side and by the other.
_BYTES = 3 << 19


class _Tunnel:
    """One that stands still in one direction."""

    def __init__(self, client: Duplex, backend: ClientConnection) -> None:
        self._client, self._backend = client, backend

    def abort(self) -> None:
        """End both sides at once."""
        self._client.transport.abort()
        self._backend.abort()


def patience(
    unread: Unread, owner: str, client: Duplex, backend: ClientConnection
) -> Callable[[Duplex], Awaitable[None]]:
    """Return how to wait until a side of a tunnel takes more: for as long as its owner has not too many that stand still."""

    async def wait(target: Duplex) -> None:
        if not target.is_full:
            return
        try:
            async with asyncio.timeout(_SECONDS):
                await target.drain()
                return
        except TimeoutError:
            pass
        tunnel = _Tunnel(client, backend)
        unread.hold(tunnel, owner, [Written(_BYTES)])
        try:
            await target.drain()
        finally:
            unread.release(tunnel)
            # Its buffers leave a hole that nobody may fill for long.
            discard_later(_BYTES, [])

    return wait
