"""Netlink messages of IPVS: what the kernel of the virtual machine answered, and what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
import uvloop
from pyroute2.netlink.generic import ipvs as messages

from pybernetes.node.proxy.ipvs.kernel import (
    Kernel,
    Load,
    destination,
    has_virtual_servers,
    read_destination,
    read_service,
    service,
    timeouts,
)
from pybernetes.node.proxy.ipvs.virtual_servers import Address, RealServer, VirtualServer

WEB, DNS = Address("tcp", "10.96.0.10", 80), Address("udp", "fd00:96::10", 53)

# What Debian's kernel 6.1 answered in scripts/virtual-machine when it was asked for all virtual servers, and for the real
# servers of each, after the two servers above had been made there.
SERVICES = """
4001000020000200010000006e000000010100002c010100060001000a000000060002001100000014000300fd0000960000
000000000000000000100600040000350000070006006d6800000c00070013000000ffffffff080008003c00000008000900
800000005c000a000800010000000000080002000000000008000300000000000c00040000000000000000000c0005000000
000000000000080006000000000008000700000000000800080000000000080009000000000008000a00000000007c000c00
0c00010000000000000000000c00020000000000000000000c00030000000000000000000c00040000000000000000000c00
050000000000000000000c00060000000000000000000c00070000000000000000000c00080000000000000000000c000900
00000000000000000c000a0000000000000000004001000020000200010000006e000000010100002c010100060001000200
00000600020006000000140003000a60000a000000000000000000000000060004000050000007000600727200000c000700
03000000ffffffff08000800302a000008000900ffffffff5c000a0008000100000000000800020000000000080003000000
00000c00040000000000000000000c0005000000000000000000080006000000000008000700000000000800080000000000
080009000000000008000a00000000007c000c000c00010000000000000000000c00020000000000000000000c0003000000
0000000000000c00040000000000000000000c00050000000000000000000c00060000000000000000000c00070000000000
000000000c00080000000000000000000c00090000000000000000000c000a000000000000000000
"""
REAL_OF_WEB = """
6401000020000200010000006e0000000501000050010200140001000af40203000000000000000000000000060002001f90
00000800030000000000080004000000000005000d000000000006000e000000000006000f00000000000800050000000000
080006000000000008000700000000000800080000000000080009000000000006000b00020000005c000a00080001000000
0000080002000000000008000300000000000c00040000000000000000000c00050000000000000000000800060000000000
08000700000000000800080000000000080009000000000008000a00000000007c000c000c00010000000000000000000c00
020000000000000000000c00030000000000000000000c00040000000000000000000c00050000000000000000000c000600
00000000000000000c00070000000000000000000c00080000000000000000000c00090000000000000000000c000a000000
0000000000006401000020000200010000006e0000000501000050010200140001000af40102000000000000000000000000
060002001f9000000800030000000000080004000100000005000d000000000006000e000000000006000f00000000000800
050000000000080006000000000008000700000000000800080000000000080009000000000006000b00020000005c000a00
0800010000000000080002000000000008000300000000000c00040000000000000000000c00050000000000000000000800
06000000000008000700000000000800080000000000080009000000000008000a00000000007c000c000c00010000000000
000000000c00020000000000000000000c00030000000000000000000c00040000000000000000000c000500000000000000
00000c00060000000000000000000c00070000000000000000000c00080000000000000000000c0009000000000000000000
0c000a000000000000000000
"""
REAL_OF_DNS = """
6401000020000200010000006e000000050100005001020014000100fd0002440000000000000000000000020600020014e9
00000800030000000000080004000100000005000d000000000006000e000000000006000f00000000000800050000000000
080006000000000008000700000000000800080000000000080009000000000006000b000a0000005c000a00080001000000
0000080002000000000008000300000000000c00040000000000000000000c00050000000000000000000800060000000000
08000700000000000800080000000000080009000000000008000a00000000007c000c000c00010000000000000000000c00
020000000000000000000c00030000000000000000000c00040000000000000000000c00050000000000000000000c000600
00000000000000000c00070000000000000000000c00080000000000000000000c00090000000000000000000c000a000000
000000000000
"""


def test_the_kernel_is_asked_from_the_loop_that_programs_run_on() -> None:
    async def work() -> None:
        there = has_virtual_servers()
        kernel = Kernel()
        try:
            with contextlib.nullcontext() if there else pytest.raises(OSError):
                await kernel.open()
                assert isinstance(await kernel.virtual_servers(), dict)
            assert ("127.0.0.1", False) in await kernel.addresses(4)
        finally:
            kernel.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())


def _encoded(**attributes: Any) -> bytes:
    """Return the attributes of a message, without its headers."""
    message = messages.ipvsmsg()
    message["cmd"], message["version"] = messages.IPVS_CMD_NEW_SERVICE, messages.GENL_VERSION
    message["attrs"] = [(f"IPVS_CMD_ATTR_{name}", value) for name, value in attributes.items()]
    message.encode()
    return bytes(message.data[20:])


def _attribute(number: int, value: bytes) -> bytes:
    """Return an attribute as netlink lays it out."""
    length = len(value) + 4
    return length.to_bytes(2, "little") + number.to_bytes(2, "little") + value + bytes(-length % 4)


def _parts(data: bytes) -> dict[int, bytes]:
    parts, position = {}, 0
    while position < len(data):
        length = int.from_bytes(data[position : position + 2], "little")
        number = int.from_bytes(data[position + 2 : position + 4], "little") & 0x3FFF
        parts[number] = data[position + 4 : position + length]
        position += (length + 3) & ~3
    return parts


@pytest.mark.parametrize(
    ("address", "server", "expected"),
    [
        (
            WEB,
            VirtualServer("rr", 0x1, 10800),
            {1: b"\2\0", 2: b"\6\0", 3: bytes([10, 96, 0, 10]), 4: b"\0\x50", 6: b"rr\0", 7: b"\1\0\0\0\xff\xff\xff\xff",
             8: (10800).to_bytes(4, "little"), 9: b"\xff\xff\xff\xff"},
        ),
        (
            DNS,
            VirtualServer("mh", 0x11, 60),
            {1: b"\x0a\0", 2: b"\x11\0", 3: bytes.fromhex("fd000096000000000000000000000010"), 4: b"\0\x35", 6: b"mh\0",
             7: b"\x11\0\0\0\xff\xff\xff\xff", 8: (60).to_bytes(4, "little"), 9: (128).to_bytes(4, "little")},
        ),
    ],
)  # fmt: skip
def test_a_virtual_server_is_asked_for(
    address: Address, server: VirtualServer, expected: dict[int, bytes]
) -> None:
    whole = _parts(_encoded(SERVICE=service(address, server).dump_nla()))
    assert _parts(whole[1]) == expected


def test_a_real_server_is_asked_for() -> None:
    whole = _parts(
        _encoded(
            SERVICE=service(WEB).dump_key(), DEST=destination(RealServer("10.244.1.2", 8080), 0).dump_nla()
        )
    )
    key, real = _parts(whole[1]), _parts(whole[2])
    assert key == {1: b"\2\0", 2: b"\6\0", 3: bytes([10, 96, 0, 10]), 4: b"\0\x50"}
    assert real[1] == bytes([10, 244, 1, 2]) and real[2] == (8080).to_bytes(2, "big")
    assert real[3] == bytes(4) and real[4] == bytes(4), "masquerading, and no new connections"


def test_timeouts_are_seconds() -> None:
    message = timeouts(901, 31, 302)
    message.encode()
    assert _parts(bytes(message.data[20:])) == {
        number: seconds.to_bytes(4, "little") for number, seconds in ((4, 901), (5, 31), (6, 302))
    }


def _read(data: bytes) -> Any:
    message = messages.ipvsmsg(data)
    message.decode()
    return message


def _reply(number: int, *attributes: bytes) -> bytes:
    """Return a message of the kernel: the header of netlink and that of the family, then one attribute with others inside."""
    inner = _attribute(number, b"".join(attributes))
    body = bytes([messages.IPVS_CMD_NEW_SERVICE, 1, 0, 0]) + inner
    return (
        (len(body) + 16).to_bytes(4, "little")
        + (0x1C).to_bytes(2, "little")
        + (2).to_bytes(2, "little")
        + bytes(8)
        + body
    )


def test_a_virtual_server_is_read_without_the_kernels_own_flag() -> None:
    """The kernel pads addresses to sixteen bytes, and sets the flag that it has hashed the server."""
    data = _reply(
        1, _attribute(1, b"\2\0"), _attribute(2, b"\6\0"), _attribute(3, bytes([10, 96, 0, 10]) + bytes(12)), _attribute(4, b"\0\x50"),
        _attribute(6, b"rr\0"), _attribute(7, b"\3\0\0\0\xff\xff\xff\xff"), _attribute(8, (10800).to_bytes(4, "little")),
        _attribute(9, b"\xff\xff\xff\xff"),
    )  # fmt: skip
    assert read_service(_read(data)) == (WEB, VirtualServer("rr", 0x1, 10800))


def test_a_server_known_by_a_mark_is_left_alone() -> None:
    data = _reply(
        1, _attribute(1, b"\2\0"), _attribute(5, (7).to_bytes(4, "little")), _attribute(6, b"rr\0"),
        _attribute(7, bytes(8)), _attribute(8, bytes(4)), _attribute(9, bytes(4)),
    )  # fmt: skip
    assert read_service(_read(data)) is None


def test_a_real_server_is_read_with_its_connections() -> None:
    data = _reply(
        2, _attribute(1, bytes([10, 244, 1, 2]) + bytes(12)), _attribute(2, (8080).to_bytes(2, "big")), _attribute(3, bytes(4)),
        _attribute(4, (1).to_bytes(4, "little")), _attribute(7, (2).to_bytes(4, "little")), _attribute(8, (3).to_bytes(4, "little")),
        _attribute(11, b"\2\0"),
    )  # fmt: skip
    assert read_destination(_read(data)) == (RealServer("10.244.1.2", 8080), Load(1, 5))


def _recorded(text: str) -> list[Any]:
    """Return the messages of an answer."""
    data, result = bytes.fromhex(text), []
    while data:
        length = int.from_bytes(data[:4], "little")
        result.append(_read(data[:length]))
        data = data[length:]
    return result


def test_what_a_kernel_answered_is_what_it_was_told() -> None:
    assert dict(server for message in _recorded(SERVICES) if (server := read_service(message))) == {
        WEB: VirtualServer("rr", 0x1, 10800),
        DNS: VirtualServer("mh", 0x11, 60),
    }
    assert dict(map(read_destination, _recorded(REAL_OF_WEB))) == {
        RealServer("10.244.1.2", 8080): Load(1, 0),
        RealServer("10.244.2.3", 8080): Load(0, 0),
    }
    assert dict(map(read_destination, _recorded(REAL_OF_DNS))) == {
        RealServer("fd00:244::2", 5353): Load(1, 0)
    }
