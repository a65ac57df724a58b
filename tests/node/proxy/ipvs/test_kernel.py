"""Netlink messages of IPVS: what the kernel of the virtual machine answered, and what it was asked."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
import uvloop

from pybernetes.node.proxy.ipvs import messages
from pybernetes.node.proxy.ipvs.kernel import Kernel, has_virtual_servers
from pybernetes.node.proxy.ipvs.messages import Load
from pybernetes.node.proxy.ipvs.netlink import Request
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
    request = messages.change(32, messages.ADD_SERVER, messages.server(address, server))
    assert (request.kind, request.flags, request.body[:2]) == (32, 0x600, b"\1\1")
    assert _parts(_parts(request.body[4:])[1]) == expected


def test_a_real_server_is_asked_for() -> None:
    request = messages.change(
        32, messages.SET_REAL, messages.server(WEB), messages.real_server(RealServer("10.244.1.2", 8080), 0)
    )
    assert (request.kind, request.flags, request.body[:2]) == (32, 0x100, b"\6\1")
    whole = _parts(request.body[4:])
    key, real = _parts(whole[1]), _parts(whole[2])
    assert key == {1: b"\2\0", 2: b"\6\0", 3: bytes([10, 96, 0, 10]), 4: b"\0\x50"}
    assert real[1] == bytes([10, 244, 1, 2]) and real[2] == (8080).to_bytes(2, "big")
    assert real[3] == bytes(4) and real[4] == bytes(4), "masquerading, and no new connections"


def test_timeouts_are_seconds() -> None:
    request = messages.timeouts(32, 901, 31, 302)
    assert request.flags == 0 and request.body[0] == 12
    assert _parts(request.body[4:]) == {
        number: seconds.to_bytes(4, "little") for number, seconds in ((4, 901), (5, 31), (6, 302))
    }


def _reply(number: int, *attributes: bytes) -> bytes:
    """Return a message of the kernel without netlink's own header: that of the family, then one attribute with others inside."""
    inner = _attribute(number, b"".join(attributes))
    return bytes([1, 1, 0, 0]) + inner


def test_a_virtual_server_is_read_without_the_kernels_own_flag() -> None:
    """The kernel pads addresses to sixteen bytes, and sets the flag that it has hashed the server."""
    data = _reply(
        1, _attribute(1, b"\2\0"), _attribute(2, b"\6\0"), _attribute(3, bytes([10, 96, 0, 10]) + bytes(12)), _attribute(4, b"\0\x50"),
        _attribute(6, b"rr\0"), _attribute(7, b"\3\0\0\0\xff\xff\xff\xff"), _attribute(8, (10800).to_bytes(4, "little")),
        _attribute(9, b"\xff\xff\xff\xff"),
    )  # fmt: skip
    assert messages.read_server(data) == (WEB, VirtualServer("rr", 0x1, 10800))


def test_a_server_known_by_a_mark_is_left_alone() -> None:
    data = _reply(
        1, _attribute(1, b"\2\0"), _attribute(5, (7).to_bytes(4, "little")), _attribute(6, b"rr\0"),
        _attribute(7, bytes(8)), _attribute(8, bytes(4)), _attribute(9, bytes(4)),
    )  # fmt: skip
    assert messages.read_server(data) is None


def test_a_real_server_is_read_with_its_connections() -> None:
    data = _reply(
        2, _attribute(1, bytes([10, 244, 1, 2]) + bytes(12)), _attribute(2, (8080).to_bytes(2, "big")), _attribute(3, bytes(4)),
        _attribute(4, (1).to_bytes(4, "little")), _attribute(7, (2).to_bytes(4, "little")), _attribute(8, (3).to_bytes(4, "little")),
        _attribute(11, b"\2\0"),
    )  # fmt: skip
    assert messages.read_real(data) == (RealServer("10.244.1.2", 8080), Load(1, 5))


def _recorded(text: str) -> list[bytes]:
    """Return the messages of an answer."""
    data, result = bytes.fromhex(text), []
    while data:
        length = int.from_bytes(data[:4], "little")
        result.append(data[16:length])
        data = data[length:]
    return result


def test_what_a_kernel_answered_is_what_it_was_told() -> None:
    assert dict(server for message in _recorded(SERVICES) if (server := messages.read_server(message))) == {
        WEB: VirtualServer("rr", 0x1, 10800),
        DNS: VirtualServer("mh", 0x11, 60),
    }
    assert dict(map(messages.read_real, _recorded(REAL_OF_WEB))) == {
        RealServer("10.244.1.2", 8080): Load(1, 0),
        RealServer("10.244.2.3", 8080): Load(0, 0),
    }
    assert dict(map(messages.read_real, _recorded(REAL_OF_DNS))) == {
        RealServer("fd00:244::2", 5353): Load(1, 0)
    }


# What pyroute2 asked Debian's kernel for in the checks of scripts/virtual-machine, without netlink's own header.
ASKED = {
    "put": "01010000480001000600010002000000080003000a60000a0600040000500000060002000600000007000600727200000c00070001000000ffffffff08000800302a000008000900ffffffff",
    "put 6": "0101000054000100060001000a00000014000300fd00009600000000000000000000001006000400003500000600020011000000070006006d6800000c00070011000000ffffffff080008003c0000000800090080000000",
    "put real": "05010000240001000600010002000000080003000a60000a060004000050000006000200060000005400020005000d000000000006000e000000000006000f000000000008000500000000000800060000000000080001000af4010206000b0002000000060002001f90000008000300000000000800040001000000",
    "real": "08010000240001000600010002000000080003000a60000a06000400005000000600020006000000",
    "bind": "0220000007000000080001000a60000a080002000a60000a",
    "bind 6": "0a8000000700000014000100fd000096000000000000000000000010",
}
_TUNNELS = frozenset((13, 14, 15))  # of real servers that are reached otherwise; pyroute2 names them always


def _tree(data: bytes, *of: int) -> object:
    """Return attributes whatever their order."""
    return {
        number: _tree(value) if number in of else value
        for number, value in _parts(data).items()
        if of or number not in _TUNNELS
    }


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("put", messages.change(32, messages.ADD_SERVER, messages.server(WEB, VirtualServer("rr", 1, 10800)))),
        ("put 6", messages.change(32, messages.ADD_SERVER, messages.server(DNS, VirtualServer("mh", 0x11, 60)))),
        ("put real", messages.change(32, messages.ADD_REAL, messages.server(WEB), messages.real_server(RealServer("10.244.1.2", 8080)))),
        ("real", messages.list_real(32, WEB)),
    ],
)  # fmt: skip
def test_the_kernel_is_told_what_pyroute2_told_it(name: str, request_: Request) -> None:
    recorded = bytes.fromhex(ASKED[name])
    assert request_.body[:4] == recorded[:4]
    assert _tree(request_.body[4:], 1, 2) == _tree(recorded[4:], 1, 2)


@pytest.mark.parametrize(("name", "ip"), [("bind", "10.96.0.10"), ("bind 6", "fd00:96::10")])
def test_addresses_are_bound_as_pyroute2_did(name: str, ip: str) -> None:
    recorded, request_ = bytes.fromhex(ASKED[name]), messages.bind(7, ip)
    assert request_.body[:8] == recorded[:8] and _parts(request_.body[8:]) == _parts(recorded[8:])
    assert (request_.kind, request_.flags, messages.unbind(7, ip).kind) == (20, 0x600, 21)
    assert messages.unbind(7, ip).body == request_.body
    assert messages.read_address(recorded) == (ip, 7)
