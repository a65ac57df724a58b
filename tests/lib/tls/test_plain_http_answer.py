"""Plain HTTP on a TLS port."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import uvloop

from pybernetes.lib.tls import tls
from pybernetes.lib.tls.plain_http_answer import ANSWER, AnsweringContext


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize(
    ("sent", "answer"), [(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", ANSWER), (b"nonsense" * 9, b"")]
)
def test_the_answer(new_loop: object, sent: bytes, answer: bytes, tmp_path: Path) -> None:
    pair = tls.issue(tls.create_authority("a"), "localhost", names=["localhost"], server=True)
    (tmp_path / "certificate").write_bytes(pair.certificate)
    (tmp_path / "key").write_bytes(pair.key)
    context = AnsweringContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")

    async def ask() -> bytes:
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=context)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(sent)
            try:
                received = await asyncio.wait_for(reader.read(len(ANSWER)), 60)
            except ConnectionError:
                received = b""
            writer.close()
        return received

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        received = runner.run(ask())
    assert received == answer or (not answer and not received.startswith(b"HTTP"))
