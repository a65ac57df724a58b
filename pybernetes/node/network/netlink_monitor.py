"""Notices changes of links and routes: the kernel reports them (rtnetlink)."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Callable, Iterator

from pyroute2.netlink.rtnl import RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_ROUTE, RTMGRP_LINK

from pybernetes.node.network.kernel import PROTOCOL

# Message types, and where they have what (linux/rtnetlink.h, linux/if_link.h).
_NEW_LINK, _DELETED_LINK, _DELETED_ROUTE = 16, 17, 25
_NAME, _MTU, _ROUTE_PROTOCOL = 3, 4, 5
_LINK_SIZE = 16  # what comes before the attributes of a link
_UP = 1  # the flag of a link that is up
_POD_LINK = "veth"  # how CNI plugins begin the names of the links of pods


class NetlinkMonitor:
    """Calls back whenever a link changes or a route of ours is removed."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._states: dict[str, tuple[int, int]] = {}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
        self._socket.bind((0, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE))
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._read)

    def _read(self) -> None:
        try:
            data = self._socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:  # more messages than the socket holds: some are lost
            self._states.clear()
            self._on_change()
            return
        if any([self._matters(kind, body) for kind, body in _messages(data)]):
            self._on_change()

    def _matters(self, kind: int, body: bytes) -> bool:
        if kind == _DELETED_ROUTE:
            return body[_ROUTE_PROTOCOL : _ROUTE_PROTOCOL + 1] == bytes([PROTOCOL])
        if kind not in (_NEW_LINK, _DELETED_LINK) or len(body) < _LINK_SIZE:
            return False
        name, mtu = "", 0
        for attribute, value in _attributes(body[_LINK_SIZE:]):
            if attribute == _NAME:
                name = value.rstrip(b"\0").decode(errors="replace")
                if name.startswith(_POD_LINK):
                    return False
            elif attribute == _MTU:
                mtu = int.from_bytes(value, sys.byteorder)
        # A bridge loses its carrier with its last pod and gets it back with the next, which changes nothing here.
        up = struct.unpack_from("=I", body, 8)[0] & _UP
        if kind == _DELETED_LINK:
            return self._states.pop(name, None) is not None
        before, self._states[name] = self._states.get(name), (up, mtu)
        return before != (up, mtu)

    def close(self) -> None:
        """Stop listening."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the body of each netlink message."""
    return _parts(data, "=IH", 16, 0xFFFF)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the value of each attribute of a message."""
    return _parts(data, "=HH", 4, 0x3FFF)


def _parts(data: bytes, header: str, size: int, mask: int) -> Iterator[tuple[int, bytes]]:
    """Yield what follows each header of a size, which begins with a length and a kind."""
    at = 0
    while at + size <= len(data):
        length, kind = struct.unpack_from(header, data, at)
        if length < size:
            return
        yield kind & mask, data[at + size : at + length]
        at += (length + 3) & ~3
