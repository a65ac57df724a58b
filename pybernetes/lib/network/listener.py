"""Ends a server without losing who is at the door."""

from __future__ import annotations

import asyncio

# From the acceptance of a connection to the first steps of the task that serves it.
_TURNS = 5


async def close(server: asyncio.Server) -> None:
    """Stop listening. Who was let in before is known to the protocol by then, which may serve or drop it.

    ``Server.close`` alone forgets connections that were accepted in the same turn of asyncio's loop: they stay open
    and nobody serves them, so that a client waits for ever.
    """
    loop = asyncio.get_running_loop()
    for sock in server.sockets:
        loop.remove_reader(sock.fileno())
    try:
        await _turns()
    finally:
        server.close()
    await _turns()  # other loops than asyncio's accept until the end


async def _turns() -> None:
    for _ in range(_TURNS):
        await asyncio.sleep(0)
