"""Clients who all connect at once: nobody else waits until all of them have shaken hands."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop

from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.tls import paced_handshakes, tls
from pybernetes.lib.tls.paced_tls import PacedObject
from pybernetes.lib.tls.plain_http_answer import AnsweringContext
from tests.support import eventually

_CLIENTS = 40


def answer(request: Request) -> Answer:
    return Response(b"ok")


class Client:
    """A client that has connected, and says its first words when it is told to."""

    def __init__(self, authority: Path) -> None:
        context = ssl.create_default_context(cafile=str(authority))
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="127.0.0.1")
        self._reader: asyncio.StreamReader = None  # type: ignore[assignment]
        self._writer: asyncio.StreamWriter = None  # type: ignore[assignment]

    async def connect(self, port: int) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)

    async def ask(self) -> bytes:
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._writer.write(self._outgoing.read())
                self._incoming.write(await self._reader.read(65536))
        self._tls.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self._writer.write(self._outgoing.read())
        received = b""
        while not received.endswith(b"ok"):
            self._incoming.write(await self._reader.read(65536))
            with suppress(ssl.SSLWantReadError):
                received += self._tls.read(65536)
        self._writer.transport.abort()
        return received

    def leave(self) -> None:
        """Say the first words, and hang up."""
        with suppress(ssl.SSLWantReadError):
            self._tls.do_handshake()
        self._writer.write(self._outgoing.read())
        self._writer.transport.abort()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_handshakes_share_the_turns(
    new_loop: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without time for more than one in a turn, each has a turn of its own: all are answered, also beside some that hang up."""
    monkeypatch.setattr(paced_handshakes, "_TURN_SECONDS", 0.0)
    certificate, key, authority = tls.ensure_serving(tmp_path, ["127.0.0.1"])
    context = AnsweringContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    turns, shake = [0], PacedObject._shake

    def counting(self: PacedObject) -> None:
        if self.arrived.pending:
            if not turns[-1]:
                asyncio.get_running_loop().call_soon(turns.append, 0)
            turns[-1] += 1
        shake(self)

    monkeypatch.setattr(PacedObject, "_shake", counting)

    async def test() -> None:
        server = Server(answer, limits=Limits())
        port = await server.start("127.0.0.1", 0, context)
        clients = [Client(authority) for _ in range(_CLIENTS)]
        async with asyncio.timeout(60):
            await asyncio.gather(*(client.connect(port) for client in clients))
            for client in clients[::4]:
                client.leave()
            staying = [client for number, client in enumerate(clients) if number % 4]
            answers = await asyncio.gather(*(client.ask() for client in staying))
        assert all(text.endswith(b"ok") for text in answers)
        await eventually(lambda: not server.connections)
        await server.stop()

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        runner.run(test())
    # A turn may have one that waited and one whose words have just come.
    assert sum(turns) >= 2 * 3 * _CLIENTS // 4 and max(turns) <= 2, turns
