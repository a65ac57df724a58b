"""Asking other servers: who is believed, and how many questions share a connection."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from typing import Any

import pytest

from pybernetes.node.dns import wire
from pybernetes.node.dns.upstream import Stream, exchange
from tests.node.dns.servers import other
from tests.node.dns.zone import service
from tests.support import eventually


class Impostor(asyncio.DatagramProtocol):
    """Answers a question as somebody would who guesses: wrongly first, then rightly."""

    def __init__(self, wrong: Callable[[bytes], bytes]) -> None:
        self._wrong = wrong

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        right = data[:2] + b"\x81\x83" + data[4:6] + bytes(6) + data[12:-11]
        for message in (self._wrong(right), right):
            self._transport.sendto(message, addr)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda right: bytes([right[0] ^ 1]) + right[1:],  # another number
        lambda right: right[:13] + b"X" + right[14:],  # another name
        lambda right: right[:-3] + b"\x1c" + right[-2:],  # another type
        lambda right: right[:2] + b"\x01" + right[3:],  # a question
        lambda right: right[:7],
    ],
)
async def test_guesses_are_not_believed(wrong: Callable[[bytes], bytes]) -> None:
    """CVE-2022-2835, CVE-2023-28452: answers are taken only by the right number, question and sender, on a port of its own each."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Impostor(wrong), local_addr=("127.0.0.1", 0))
    try:
        to = transport.get_extra_info("sockname")
        answer = await exchange(wire.name("www.example.com") + struct.pack(">HH", wire.A, 1), to)
        assert answer[2:4] == b"\x81\x83" and b"www" in answer
    finally:
        transport.close()


async def test_many_questions_share_one_connection() -> None:
    async with other("example.com", service("www", "a", clusterIPs=["192.0.2.7"])) as server:
        stream = Stream(("127.0.0.1", server.port))
        asked = [
            wire.name(f"n{number}.a.svc.example.com") + struct.pack(">HH", wire.A, 1) for number in range(200)
        ]
        answers = await asyncio.gather(*(stream.exchange(question) for question in asked))
        assert [
            answer[12 : 12 + len(question)] for answer, question in zip(answers, asked, strict=True)
        ] == asked
        assert len(server.connections) == 1
        await stream.close()
        await eventually(lambda: not server.connections)
        assert (await stream.exchange(asked[0]))[3] & 15 == wire.NXDOMAIN  # it opens another
        await stream.close()


async def test_a_connection_that_answers_something_else_is_not_believed() -> None:
    async def confuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
        wrong = sent[:2] + b"\x81\x80" + sent[4:6] + bytes(6) + b"\x01x" + sent[12:-11]
        writer.write(len(wrong).to_bytes(2) + wrong)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(confuse, "127.0.0.1", 0)
    stream = Stream(server.sockets[0].getsockname())
    with pytest.raises(OSError):
        await stream.exchange(wire.name("www.example.com") + struct.pack(">HH", wire.A, 1))
    await stream.close()
    server.close()
