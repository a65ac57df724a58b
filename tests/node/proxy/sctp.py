"""The beginning of associations of SCTP, byte by byte: kernels without its sockets still send its packets on."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator

from tests.node.proxy.namespaces import World

PROTOCOL = 132
_INIT, _INIT_ACK, _NAME = 1, 2, 0xC000  # a parameter of a type that others skip
_TAG = 7
_PORTS, _CHECKSUM = struct.Struct("!HHI"), struct.Struct("<I")
_CHUNK = struct.Struct("!BBHIIHHI")


def _crc32c(data: bytes) -> int:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def _packet(source: int, target: int, tag: int, kind: int, name: str = "") -> bytes:
    text = name.encode()
    parameter = struct.pack("!HH", _NAME, 4 + len(text)) + text + b"\0" * (-len(text) % 4) if name else b""
    chunk = _CHUNK.pack(kind, 0, 20 + len(parameter), _TAG, 65536, 1, 1, 1) + parameter
    head = _PORTS.pack(source, target, tag)
    return head + _CHECKSUM.pack(_crc32c(head + bytes(4) + chunk)) + chunk


def _payload(packet: bytes) -> bytes:
    """Return a packet without the head of IPv4, which sockets of IPv6 do not show."""
    return packet[(packet[0] & 15) * 4 :] if packet[0] >> 4 == 4 and packet[9] == PROTOCOL else packet


@contextlib.asynccontextmanager
async def answering(world: World, pod: str, family: int, port: int = 8080) -> AsyncIterator[None]:
    """A pod answers whoever begins an association with its name."""
    loop, opened = asyncio.get_running_loop(), world.raw_socket_in(pod, PROTOCOL, family)

    async def answer() -> None:
        while True:
            packet, peer = await loop.sock_recvfrom(opened, 2000)
            source, target, _ = _PORTS.unpack_from(data := _payload(packet))
            if target == port and data[12] == _INIT:
                await loop.sock_sendto(opened, _packet(port, source, _TAG, _INIT_ACK, pod), (peer[0], 0))

    task = asyncio.create_task(answer())
    try:
        yield
    finally:
        task.cancel()
        opened.close()


async def begin(
    world: World, where: str, address: str, port: int, family: int, own: int = 40000, timeout: float = 30.0
) -> str:
    """Return who answers an association from a namespace; OSError if it is refused."""
    loop, client = asyncio.get_running_loop(), world.raw_socket_in(where, PROTOCOL, family)
    try:
        client.connect((address, 0))  # so that refusals and answers of this address alone are heard
        await loop.sock_sendall(client, _packet(own, port, 0, _INIT))
        async with asyncio.timeout(timeout):
            while True:
                data = _payload(await loop.sock_recv(client, 2000))
                if _PORTS.unpack_from(data)[:2] == (port, own) and data[12] == _INIT_ACK:
                    checksum = _CHECKSUM.pack(_crc32c(data[:8] + bytes(4) + data[12:]))
                    assert data[8:12] == checksum
                    return data[36:].rstrip(b"\0").decode()
    finally:
        client.close()
