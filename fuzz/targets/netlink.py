"""Messages of the kernel about links and routes: read to their end, whatever their lengths say."""

from __future__ import annotations

import struct

from fuzz.engine.target import Target
from pybernetes.node.network import netlink_monitor


class _Monitor(netlink_monitor.NetlinkMonitor):
    """A monitor without a socket."""

    def __init__(self) -> None:
        self._states = {}
        self._on_change = lambda: None


def run(data: bytes) -> None:
    """Read the bytes as what the socket gave."""
    monitor = _Monitor()
    for kind, body in netlink_monitor._messages(data):
        monitor._matters(kind, body)
    assert len(monitor._states) <= len(data)


def _message(kind: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body + bytes(-len(body) % 4)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


_LINK = (
    struct.pack("=BBHiII", 0, 0, 1, 5, 1, 0)
    + _attribute(3, b"eth0\0")
    + _attribute(4, struct.pack("=I", 1500))
)
_ROUTE = struct.pack("=BBBBBBBBI", 2, 24, 0, 0, 254, 0x50, 0, 1, 0) + _attribute(1, b"\x0a\0\0\0")
TARGET = Target(
    run,
    seeds=(_message(16, _LINK), _message(17, _LINK) + _message(25, _ROUTE), _message(25, b"")),
    words=(b"\x10\0", b"\x11\0", b"\x19\0", b"\0\0\0\0", b"\xff\xff", b"veth", b"\3\0", b"\4\0"),
)
