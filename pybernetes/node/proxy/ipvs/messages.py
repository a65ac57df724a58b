"""What the kernel is asked about virtual servers and addresses of links, and what it answers, as bytes. Pure."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import NamedTuple

from pybernetes.node.proxy.ipvs.netlink import CREATE, DUMP, EXCLUSIVE, Request, attribute, attributes, nested
from pybernetes.node.proxy.ipvs.virtual_servers import Address, RealServer, VirtualServer

_FAMILIES: dict[int, int] = {4: socket.AF_INET, 6: socket.AF_INET6}
_PROTOCOLS = {"tcp": socket.IPPROTO_TCP, "udp": socket.IPPROTO_UDP, "sctp": socket.IPPROTO_SCTP}
_NAMES = {number: name for name, number in _PROTOCOLS.items()}

# The family of generic netlink that knows the others, and what it is asked.
_CONTROL, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 0x10, 3, 1, 2
_GENERIC_HEADER = 4
# The commands of IPVS, its attributes and those of virtual and real servers.
ADD_SERVER, SET_SERVER, REMOVE_SERVER, _GET_SERVER, ADD_REAL, SET_REAL, REMOVE_REAL, _GET_REAL = range(1, 9)
_SET_TIMEOUTS = 12
_SERVER, _REAL, _TIMEOUTS = 1, 2, (4, 5, 6)
_AF, _PROTOCOL, _ADDR, _PORT, _SCHEDULER, _FLAGS, _TIMEOUT, _NETMASK = 1, 2, 3, 4, 6, 7, 8, 9
_REAL_ADDR, _REAL_PORT, _WAY, _WEIGHT, _MOST, _LEAST, _ACTIVE, _INACTIVE, _REAL_FAMILY = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    11,
)
_HASHED = 0x2  # a flag that the kernel sets itself
_PERSISTENT = 0x1
_ALL_FLAGS = 0xFFFFFFFF
_MASQUERADE = 0  # the way to real servers that works whatever is between here and there
_ONE_CLIENT = {4: b"\xff\xff\xff\xff", 6: struct.pack("=I", 128)}
_NEW = {ADD_SERVER: CREATE | EXCLUSIVE, ADD_REAL: CREATE | EXCLUSIVE, SET_SERVER: 0x100, SET_REAL: 0x100}
# Addresses of links.
_NEW_ADDRESS, _REMOVE_ADDRESS, _GET_ADDRESS, _WHOLE, _LOCAL = 20, 21, 22, 1, 2
_ADDRESS_HEADER = struct.Struct("=BBBBI")


class Load(NamedTuple):
    """What the kernel says of a real server."""

    weight: int
    connections: int


def _u16(value: int) -> bytes:
    return struct.pack("=H", value)


def _u32(value: int) -> bytes:
    return struct.pack("=I", value)


def _generic(command: int, *attributes: bytes) -> bytes:
    return bytes([command, 1, 0, 0]) + b"".join(attributes)


# -- virtual servers -----------------------------------------------------------------------------------------


def find_family(name: str) -> Request:
    """Return the question after the number that a family of generic netlink has."""
    return Request(_CONTROL, 0, _generic(_GET_FAMILY, attribute(_FAMILY_NAME, name.encode() + b"\0")))


def read_family(body: bytes) -> int:
    """Return that number."""
    return int(struct.unpack("=H", attributes(body[_GENERIC_HEADER:])[_FAMILY_ID])[0])


def server(address: Address, settings: VirtualServer | None = None) -> bytes:
    """Return a virtual server as an attribute; without its settings, its address alone."""
    ip = ipaddress.ip_address(address.ip)
    parts = [
        attribute(_AF, _u16(_FAMILIES[ip.version])),
        attribute(_PROTOCOL, _u16(_PROTOCOLS[address.protocol])),
        attribute(_ADDR, ip.packed),
        attribute(_PORT, address.port.to_bytes(2)),
    ]
    if settings is not None:
        parts += [
            attribute(_SCHEDULER, settings.scheduler.encode() + b"\0"),
            attribute(_FLAGS, struct.pack("=II", settings.flags, _ALL_FLAGS)),
            attribute(_TIMEOUT, _u32(settings.timeout)),
            attribute(_NETMASK, _ONE_CLIENT[ip.version]),
        ]
    return nested(_SERVER, *parts)


def real_server(real: RealServer, weight: int = 1) -> bytes:
    """Return a real server as an attribute."""
    ip = ipaddress.ip_address(real.ip)
    return nested(
        _REAL,
        attribute(_REAL_ADDR, ip.packed),
        attribute(_REAL_PORT, real.port.to_bytes(2)),
        attribute(_WAY, _u32(_MASQUERADE)),
        attribute(_WEIGHT, _u32(weight)),
        attribute(_MOST, _u32(0)),
        attribute(_LEAST, _u32(0)),
        attribute(_REAL_FAMILY, _u16(_FAMILIES[ip.version])),
    )


def change(family: int, command: int, *attributes: bytes) -> Request:
    """Return what makes, sets or removes a virtual or real server."""
    return Request(family, _NEW.get(command, 0), _generic(command, *attributes))


def list_servers(family: int) -> Request:
    """Return the question after all virtual servers."""
    return Request(family, DUMP, _generic(_GET_SERVER))


def list_real(family: int, address: Address) -> Request:
    """Return the question after the real servers of a virtual one."""
    return Request(family, DUMP, _generic(_GET_REAL, server(address)))


def timeouts(family: int, *seconds: int) -> Request:
    """Return what sets how long idle connections are kept (TCP, ending TCP, UDP); 0 leaves what is there."""
    listed = zip(_TIMEOUTS, seconds, strict=True)
    return Request(
        family, 0, _generic(_SET_TIMEOUTS, *(attribute(of, _u32(number)) for of, number in listed))
    )


def read_server(body: bytes) -> tuple[Address, VirtualServer] | None:
    """Return a virtual server of the kernel; None for one that is known by a mark instead of an address."""
    parts = attributes(attributes(body[_GENERIC_HEADER:])[_SERVER])
    protocol = _NAMES.get(struct.unpack("=H", parts[_PROTOCOL])[0]) if _PROTOCOL in parts else None
    if protocol is None or _ADDR not in parts:
        return None
    ip = _ip(parts[_ADDR], struct.unpack("=H", parts[_AF])[0])
    flags = struct.unpack_from("=I", parts[_FLAGS])[0] & ~_HASHED
    # The kernel keeps the timeout of a server that was persistent once.
    timeout = struct.unpack("=I", parts[_TIMEOUT])[0] if flags & _PERSISTENT else 0
    scheduler = parts[_SCHEDULER].rstrip(b"\0").decode()
    return Address(protocol, ip, int.from_bytes(parts[_PORT])), VirtualServer(scheduler, flags, timeout)


def read_real(body: bytes, family: int = socket.AF_INET) -> tuple[RealServer, Load]:
    """Return a real server of the kernel; one that names no family has that of its virtual server."""
    parts = attributes(attributes(body[_GENERIC_HEADER:])[_REAL])
    if _REAL_FAMILY in parts:
        family = struct.unpack("=H", parts[_REAL_FAMILY])[0]
    weight, active, inactive = (
        int(struct.unpack("=I", parts[number])[0]) for number in (_WEIGHT, _ACTIVE, _INACTIVE)
    )
    real = RealServer(_ip(parts[_REAL_ADDR], family), int.from_bytes(parts[_REAL_PORT]))
    return real, Load(weight, active + inactive)


def family_of(address: Address) -> int:
    """Return the family of a virtual server's address."""
    return _FAMILIES[ipaddress.ip_address(address.ip).version]


def _ip(data: bytes, family: int) -> str:
    """Return an address, which the kernel fills up to sixteen bytes."""
    return socket.inet_ntop(family, data[: 4 if family == socket.AF_INET else 16])


# -- addresses of links --------------------------------------------------------------------------------------


def _address(kind: int, flags: int, index: int, ip: str) -> Request:
    parsed = ipaddress.ip_address(ip)
    header = _ADDRESS_HEADER.pack(_FAMILIES[parsed.version], parsed.max_prefixlen, 0, 0, index)
    local = attribute(_LOCAL, parsed.packed) if parsed.version == 4 else b""
    return Request(kind, flags, header + local + attribute(_WHOLE, parsed.packed))


def bind(index: int, ip: str) -> Request:
    """Return what gives an address to a link."""
    return _address(_NEW_ADDRESS, CREATE | EXCLUSIVE, index, ip)


def unbind(index: int, ip: str) -> Request:
    """Return what takes an address from a link."""
    return _address(_REMOVE_ADDRESS, 0, index, ip)


def list_addresses(family: int) -> Request:
    """Return the question after the addresses of all links; of version 4 or 6."""
    return Request(_GET_ADDRESS, DUMP, _ADDRESS_HEADER.pack(_FAMILIES[family], 0, 0, 0, 0))


def read_address(body: bytes) -> tuple[str, int] | None:
    """Return an address and the index of its link; None if the message has none."""
    family, *_, index = _ADDRESS_HEADER.unpack_from(body)
    parts = attributes(body[_ADDRESS_HEADER.size :])
    data = parts.get(_LOCAL) or parts.get(_WHOLE)
    return (_ip(data, family), index) if data else None
