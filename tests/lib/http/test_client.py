"""Requests over TLS: connections are used again, and what goes wrong is told."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed
from pybernetes.lib.tls import tls
from tests.support import eventually

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Counter:
    """How many connections were made."""

    def __init__(self) -> None:
        self.connections = 0


@asynccontextmanager
async def serving(directory: Path, *answers: bytes) -> AsyncIterator[tuple[Peer, Counter]]:
    """Yield a server that gives one answer after the other, and ends a connection for an empty one."""
    authority = tls.create_authority("a")
    pair = tls.issue(authority, "s", names=("127.0.0.1",), server=True)
    (directory / "crt").write_bytes(pair.certificate)
    (directory / "key").write_bytes(pair.key)
    left, counter = list(answers), Counter()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        counter.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                await reader.readexactly(length)
                answer = left.pop(0) if left else OK
                if not answer:
                    break
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    context = tls.server_context(directory / "crt", directory / "key")
    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    trusting = tls.client_context(authority_data=authority.certificate.decode())
    try:
        yield Peer("127.0.0.1", server.sockets[0].getsockname()[1], trusting), counter
    finally:
        server.close()


def post(client: HttpClient, peer: Peer, seconds: float = 20) -> Awaitable[object]:
    return client.send(peer, "POST", "/path", b"body", {"Content-Type": "text/plain"}, seconds)


def test_connections_are_used_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        chunked = b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
        # The fourth request finds the connection ended, and goes out on a new one.
        async with serving(tmp_path, OK, chunked, closing, OK, b"") as (peer, counter):
            client = HttpClient()
            for status in (200, 201, 200, 200, 200):
                reply = await client.send(peer, "POST", "/", b"x", {}, 20)
                assert (reply.status, reply.body) == (status, b"ok")
            assert counter.connections == 3
            client.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "EOF"),
        (b"garbage\r\n\r\n", "transport connection broken"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "context deadline exceeded"),
    ],
)
def test_answers_that_are_none(tmp_path: Path, answer: bytes, why: str) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, answer) as (peer, _):
            client = HttpClient()
            with pytest.raises(RequestFailed, match=why):
                await post(client, peer, 2 if "deadline" in why else 20)
            client.close()

    asyncio.run(scenario())


def test_whom_not_to_trust_and_nobody_there(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as (peer, _):
            client = HttpClient()
            stranger = Peer(peer.host, peer.port, ssl.create_default_context())
            with pytest.raises(RequestFailed, match="x509: certificate signed by unknown authority"):
                await post(client, stranger)
            named = Peer(peer.host, peer.port, peer.context, "other.example.com")
            with pytest.raises(RequestFailed, match="x509"):
                await post(client, named)
        with pytest.raises(RequestFailed, match="connection refused"):
            await post(client, peer)
        client.close()

    asyncio.run(scenario())


def test_nothing_is_kept_of_peers_that_are_gone(tmp_path: Path) -> None:
    async def scenario() -> None:
        client = HttpClient()
        async with serving(tmp_path, OK, OK, b"") as (peer, counter):
            await post(client, peer)
            await post(client, peer)
            assert counter.connections == 1 and list(client._pools) == [peer]
            await post(client, peer)  # which the server ends the connection for; it goes out on another one
            assert counter.connections == 2 and list(client._pools) == [peer]
            client._pools[peer].forget_idle()
            await eventually(lambda: not client._pools)
        with pytest.raises(RequestFailed, match="connection refused"):
            await post(client, peer)
        assert not client._pools
        client.close()

    asyncio.run(scenario())
