"""Requests through a real proxy: over TCP, TLS and a Unix socket, to servers with and without TLS."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed
from pybernetes.lib.http.connect_dialer import ConnectDialer, ProxyServer
from pybernetes.lib.tls import tls
from tests.lib.http.connect_proxy import ConnectProxy
from tests.support import eventually


class World:
    """A directory with certificates, and contexts of servers and clients that know one another."""

    def __init__(self, directory: Path) -> None:
        certificate, key, authority = tls.ensure_serving(directory, ["localhost", "far.example"])
        self.server = tls.server_context(certificate, key)
        self.client = tls.client_context(authority)


@asynccontextmanager
async def answering(context: ssl.SSLContext | None) -> AsyncIterator[int]:
    """Run a server that says hello."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (await reader.readuntil(b"\r\n\r\n")).startswith(b"GET"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    def ended(loop: asyncio.AbstractEventLoop, context: object) -> None:
        """Let a client go away."""

    asyncio.get_running_loop().set_exception_handler(ended)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def ask(world: World, directory: Path, way: str, secure: bool) -> tuple[str, list[str], list[str]]:
    """Return what a server behind a proxy says, whom the proxy was asked for, and what was told of the dial."""
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(answering(world.server if secure else None))
        path = directory / "proxy.sock" if way == "uds" else None
        proxy = ConnectProxy()
        proxy.know("far.example", "127.0.0.1")
        await stack.enter_async_context(proxy.listening(path, world.server if way == "tls" else None))
        if path is not None:
            where = ProxyServer(path=str(path))
        else:
            where = ProxyServer(
                "127.0.0.1", proxy.port, "", world.client if way == "tls" else None, "localhost"
            )
        told: list[str] = []
        dialer = ConnectDialer(
            where, lambda: told.append("start"), lambda seconds, stage: told.append(stage or "end")
        )
        client = HttpClient(dialer)
        peer = Peer(
            "far.example", port, world.client if secure else None, "far.example"
        )  # a name that only the proxy knows
        try:
            for _ in range(2):  # the second on the same connection
                reply = await client.send(peer, "GET", "/", b"", {}, 60)
        finally:
            client.close()
        return reply.body.decode(), [target.replace(str(port), "PORT") for target in proxy.targets], told


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("secure", [False, True], ids=["plain", "secure"])
@pytest.mark.parametrize("way", ["tcp", "tls", "uds"])
def test_ways(way: str, secure: bool, loop: str, tmp_path: Path) -> None:
    task = ask(World(tmp_path), tmp_path, way, secure)
    factory = uvloop.new_event_loop if loop == "uvloop" else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        text, targets, told = runner.run(task)
    assert (text, targets, told) == ("hello", ["far.example:PORT"], ["start", "end"])


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "while dialing far.example:1, code 403: 403 Forbidden"),
        (b"hello\r\n\r\n", "malformed HTTP response"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, "head is too large"),
        (b"", "CONNECT to far.example:1 via proxy 127.0.0.1:"),
    ],
)
async def test_proxies_that_do_not_help(answer: bytes, text: str) -> None:
    stages: list[str] = []
    async with ConnectProxy(answer).listening() as proxy:
        dialer = ConnectDialer(
            ProxyServer("127.0.0.1", proxy.port), ended=lambda seconds, stage: stages.append(stage)
        )
        with pytest.raises(RequestFailed, match=text):
            await HttpClient(dialer).send(Peer("far.example", 1, None), "GET", "/", b"", {}, 60)
    assert stages == ["proxy"]


EARLY = b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


async def test_answers_before_the_question(tmp_path: Path) -> None:
    """A peer that speaks first is heard if its protocol lets it; of TLS and of HTTP it is nobody that can be believed."""
    async with ConnectProxy(EARLY).listening() as proxy:
        dialer = ConnectDialer(ProxyServer("127.0.0.1", proxy.port))
        for context, text in (
            (World(tmp_path).client, "unexpected 43 bytes of buffered data from CONNECT proxy"),
            (None, "EOF|broken|closed"),
        ):
            with pytest.raises(RequestFailed, match=text):
                await HttpClient(dialer).send(Peer("far.example", 1, context), "GET", "/", b"", {}, 60)
        protocol = await dialer(Hearing, "far.example", 1)
        await eventually(lambda: protocol.heard == EARLY.partition(b"\r\n\r\n")[2])


class Hearing(asyncio.Protocol):
    """Keeps what it hears."""

    heard = b""

    def data_received(self, data: bytes) -> None:
        self.heard += data


async def test_no_proxy(tmp_path: Path) -> None:
    stages: list[str] = []
    dialer = ConnectDialer(
        ProxyServer(path=str(tmp_path / "none")), ended=lambda seconds, stage: stages.append(stage)
    )
    with pytest.raises(RequestFailed):
        await HttpClient(dialer).send(Peer("far.example", 1, None), "GET", "/", b"", {}, 60)
    assert stages == ["connect"]


async def test_a_server_with_a_wrong_certificate_is_not_believed(tmp_path: Path) -> None:
    world = World(tmp_path)
    other = tls.client_context(authority_data=tls.create_authority("other").certificate.decode())
    async with answering(world.server) as port, ConnectProxy().listening() as proxy:
        dialer = ConnectDialer(ProxyServer("127.0.0.1", proxy.port))
        with pytest.raises(RequestFailed, match="certificate"):
            await HttpClient(dialer).send(
                Peer("127.0.0.1", port, other, "localhost"), "GET", "/", b"", {}, 60
            )


@pytest.mark.parametrize("host", ["a\r\nX: y", "a b", "", "a/b", "ä"])
async def test_hosts_that_are_no_names(host: str) -> None:
    async with ConnectProxy().listening() as proxy:
        dialer = ConnectDialer(ProxyServer("127.0.0.1", proxy.port))
        with pytest.raises(OSError, match="no such host"):
            await dialer(asyncio.Protocol, host, 1)
        assert proxy.targets == []
