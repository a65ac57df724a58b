"""The kernel's table of connections: those of an address are forgotten.

The kernel tells all of them once, however many addresses there are. (It can compare itself, but takes as long for each address and
direction, and tells those of IPv6 that differ, up to 6.18 at least; the program conntrack is told all for each, too.)
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Iterable, Iterator

_NETLINK_NETFILTER = 12
_GET, _DELETE = 1 << 8 | 1, 1 << 8 | 2
_REQUEST, _DUMP = 0x1, 0x300
_ERROR, _DONE = 2, 3
_HEADER, _ATTRIBUTE, _FAMILY = struct.Struct("=IHHII"), struct.Struct("=HH"), struct.Struct("!BBH")
_NESTED = 0x8000
# Attributes of a connection: its packets one way and the other, its number and zone.
_WAYS, _ID, _ZONE = (1, 2), 12, 18
_ADDRESSES = 1  # of a way
_SOURCE = {4: 1, 6: 3}
_FAMILIES = {4: int(socket.AF_INET), 6: int(socket.AF_INET6)}
_SECONDS = 10.0
_ASKED, _DELETED = 1, 2  # numbers of requests


def open_socket() -> socket.socket:
    """Return a socket for the table of this thread's network namespace."""
    opened = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)
    opened.bind((0, 0))
    opened.settimeout(_SECONDS)
    return opened


def forget(opened: socket.socket, addresses: Iterable[str]) -> int:
    """Forget connections that addresses began, and those that led to them, by a service too; return how many."""
    wanted: dict[int, set[bytes]] = {4: set(), 6: set()}
    for address in map(ipaddress.ip_address, addresses):
        wanted[address.version].add(address.packed)
    count = 0
    for version, sources in wanted.items():
        family = _FAMILY.pack(_FAMILIES[version], 0, 0)
        for connection in list(_connections(opened, family, _SOURCE[version], sources)) if sources else ():
            count += 1
            opened.send(_message(_DELETE, _REQUEST, _DELETED, family + connection))
    return count


def _connections(opened: socket.socket, family: bytes, kind: int, sources: set[bytes]) -> Iterator[bytes]:
    """Yield what names each connection of which packets come, in either direction, from one of the sources."""
    opened.send(_message(_GET, _REQUEST | _DUMP, _ASKED, family))
    while True:
        for type_, sequence, content in _messages(opened.recv(1 << 17)):
            if sequence != _ASKED:
                continue  # one of those to be deleted had ended by itself
            if type_ == _DONE:
                return
            if type_ == _ERROR:
                raise OSError(
                    -struct.unpack_from("=i", content)[0], "the kernel does not tell its connections"
                )
            if any(source in content for source in sources):
                attributes = dict(_attributes(content[_FAMILY.size :]))
                if any(_source(attributes.get(way, b""), kind) in sources for way in _WAYS):
                    yield _name(attributes)


def _source(way: bytes, kind: int) -> bytes:
    return dict(_attributes(dict(_attributes(way)).get(_ADDRESSES, b""))).get(kind, b"")


def _name(attributes: dict[int, bytes]) -> bytes:
    first = _attribute(_WAYS[0] | _NESTED, attributes[_WAYS[0]])
    return first + b"".join(_attribute(name, attributes[name]) for name in (_ZONE, _ID) if name in attributes)


def _message(type_: int, flags: int, sequence: int, content: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(content), type_, flags, sequence, 0) + content


def _messages(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at + _HEADER.size <= len(data):
        length, type_, _, sequence, _ = _HEADER.unpack_from(data, at)
        yield type_, sequence, data[at + _HEADER.size : at + length]
        at += max(length + 3 & ~3, _HEADER.size)


def _attribute(name: int, content: bytes) -> bytes:
    length = _ATTRIBUTE.size + len(content)
    return _ATTRIBUTE.pack(length, name) + content + bytes(-length % 4)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(data):
        length, name = _ATTRIBUTE.unpack_from(data, at)
        yield name & ~_NESTED, data[at + _ATTRIBUTE.size : at + length]
        at += max(length + 3 & ~3, _ATTRIBUTE.size)
