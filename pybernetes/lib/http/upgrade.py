"""Connections that become something else than HTTP, the server's side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

from pybernetes.lib.http.duplex import Duplex

# The loop itself holds tasks only weakly.
_TASKS: set[asyncio.Task[None]] = set()


class Upgrade:
    """An answer that takes the raw connection over: ``start`` gets the transport and what was already read.

    It returns the protocol that receives the bytes from then on. ``lost`` is called instead if the client has left.
    """

    def __init__(
        self,
        start: Callable[[asyncio.Transport, bytes], asyncio.Protocol],
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self.start, self.lost = start, lost


def named_headers(connection: bytes) -> frozenset[bytes]:
    """Return the words of a Connection header: headers that end with the connection too, mostly."""
    return frozenset(word.strip().lower() for word in connection.split(b","))


def wanted_protocol(headers: Mapping[bytes, bytes]) -> bytes:
    """Return the protocol that a request asks for, empty if it is to stay with HTTP."""
    if b"upgrade" not in named_headers(headers.get(b"connection", b"")):
        return b""
    return headers.get(b"upgrade", b"")


def switching_protocols(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the head of the answer that agrees to an upgrade."""
    lines = [b"HTTP/1.1 101 Switching Protocols", *(name + b": " + value for name, value in headers)]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def upgraded(
    head: bytes, serve: Callable[[Duplex], Awaitable[None]], abandon: Callable[[], None] = lambda: None
) -> Upgrade:
    """Return an answer that sends ``head`` and then has the connection served until ``serve`` is done with it.

    ``abandon`` lets go of what ``serve`` was to use, if there is no client any more.
    """

    async def run(client: Duplex) -> None:
        try:
            await serve(client)
        except OSError:
            pass  # the client, or whom it was joined to, is gone
        finally:
            client.close()

    def start(transport: asyncio.Transport, leftover: bytes) -> asyncio.Protocol:
        client = Duplex()
        client.connection_made(transport)
        client.write(head)
        if leftover:
            client.data_received(leftover)
        task = asyncio.get_running_loop().create_task(run(client))
        _TASKS.add(task)
        task.add_done_callback(_TASKS.discard)
        return client

    return Upgrade(start, abandon)
