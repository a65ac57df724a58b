"""The kernel's virtual servers and the link with their addresses, over netlink. Thin.

Programs run on uvloop, which knows no netlink: what is asked for here runs on a loop of its own, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import errno
import functools
import ipaddress
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from pyroute2 import AsyncIPRoute
from pyroute2.ipvs import IPVS, AsyncIPVS, IPVSDest, IPVSService
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import ipvs as messages

from pybernetes.node.proxy.ipvs.virtual_servers import LINK, Address, RealServer, VirtualServer

_FAMILIES: dict[int, int] = {4: socket.AF_INET, 6: socket.AF_INET6}
_PROTOCOLS = {"tcp": socket.IPPROTO_TCP, "udp": socket.IPPROTO_UDP, "sctp": socket.IPPROTO_SCTP}
_NAMES = {number: name for name, number in _PROTOCOLS.items()}
_HASHED = 0x2  # a flag that the kernel sets itself
_ALL_FLAGS = 0xFFFFFFFF
_MASQUERADE = 0  # the way to real servers that works whatever is between here and there
_ONE_CLIENT = {4: "255.255.255.255", 6: socket.inet_ntoa(struct.pack("=I", 128))}
_UP_NO_ARP = 0x81
_GONE = frozenset((errno.ESRCH, errno.ENOENT))
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


class Load(NamedTuple):
    """What the kernel says of a real server."""

    weight: int
    connections: int


def service(address: Address, server: VirtualServer | None = None) -> IPVSService:
    """Return a virtual server as a message has it; without its settings, its address alone."""
    version = ipaddress.ip_address(address.ip).version
    message = IPVSService(
        af=_FAMILIES[version], addr=address.ip, port=address.port, protocol=_PROTOCOLS[address.protocol]
    )
    if server is not None:
        message["sched_name"] = server.scheduler
        message["flags"] = {"flags": server.flags, "mask": _ALL_FLAGS}
        message["timeout"] = server.timeout
        message["netmask"] = _ONE_CLIENT[version]
    return message


def destination(real: RealServer, weight: int = 1) -> IPVSDest:
    """Return a real server as a message has it."""
    return IPVSDest(addr=real.ip, port=real.port, fwd_method=_MASQUERADE, weight=weight)


def read_service(message: Any) -> tuple[Address, VirtualServer] | None:
    """Return a virtual server of the kernel; None for one that is known by a mark instead of an address."""
    attributes = dict(message.get("IPVS_CMD_ATTR_SERVICE")["attrs"])
    protocol = _NAMES.get(attributes.get("IPVS_SVC_ATTR_PROTOCOL", 0))
    if protocol is None or "IPVS_SVC_ATTR_ADDR" not in attributes:
        return None
    address = Address(protocol, attributes["IPVS_SVC_ATTR_ADDR"], attributes["IPVS_SVC_ATTR_PORT"])
    flags = attributes["IPVS_SVC_ATTR_FLAGS"]["flags"] & ~_HASHED
    # The kernel keeps the timeout of a server that was persistent once.
    timeout = attributes["IPVS_SVC_ATTR_TIMEOUT"] if flags & 1 else 0
    return address, VirtualServer(attributes["IPVS_SVC_ATTR_SCHED_NAME"], flags, timeout)


def read_destination(message: Any) -> tuple[RealServer, Load]:
    """Return a real server of the kernel."""
    attributes = dict(message.get("IPVS_CMD_ATTR_DEST")["attrs"])
    real = RealServer(attributes["IPVS_DEST_ATTR_ADDR"], attributes["IPVS_DEST_ATTR_PORT"])
    connections = attributes["IPVS_DEST_ATTR_ACTIVE_CONNS"] + attributes["IPVS_DEST_ATTR_INACT_CONNS"]
    return real, Load(attributes["IPVS_DEST_ATTR_WEIGHT"], connections)


def timeouts(tcp: int, tcp_fin: int, udp: int) -> messages.ipvsmsg:
    """Return the message that sets how long the kernel keeps idle connections; 0 leaves what is there."""
    message = messages.ipvsmsg()
    message["cmd"], message["version"] = messages.IPVS_CMD_SET_CONFIG, messages.GENL_VERSION
    message["attrs"] = [
        (f"IPVS_CMD_ATTR_TIMEOUT_{name}", struct.pack("=I", seconds))
        for name, seconds in (("TCP", tcp), ("TCP_FIN", tcp_fin), ("UDP", udp))
    ]
    return message


def has_virtual_servers() -> bool:
    """Return whether the kernel of this machine has virtual servers at all, loading its module if it can."""
    with ThreadPoolExecutor(1) as thread:  # the caller's may have a loop that runs
        return thread.submit(_has_virtual_servers).result()


def _has_virtual_servers() -> bool:
    try:
        IPVS().close()
    except NetlinkError:
        return False
    return True


def _apart(
    method: Callable[Concatenate[Kernel, _Arguments], Coroutine[Any, Any, _Result]],
) -> Callable[Concatenate[Kernel, _Arguments], Coroutine[Any, Any, _Result]]:
    """Return a method that runs on the loop of the kernel's sockets, whatever loop it is called on."""

    @functools.wraps(method)
    async def call(self: Kernel, *args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        asked = asyncio.run_coroutine_threadsafe(method(self, *args, **keywords), self._loop)
        return await asyncio.wrap_future(asked)

    return call


class Kernel:
    """The tables of one network namespace: the one of the caller's thread. OSError if it cannot."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="netlink of IPVS", daemon=True)
        self._thread.start()
        self._servers, self._links = asyncio.run_coroutine_threadsafe(_sockets(), self._loop).result()

    @_apart
    async def open(self) -> None:
        """Find out how the kernel calls its virtual servers, which loads what it needs for them."""
        await _ask(self._servers.setup_endpoint())

    def close(self) -> None:
        """Close the sockets; what was made stays."""
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join()
        self._loop.close()

    def _end(self) -> None:
        self._servers.close()
        self._links.close()
        self._loop.stop()

    # -- virtual servers -----------------------------------------------------------------------------------

    @_apart
    async def virtual_servers(self) -> dict[Address, VirtualServer]:
        """Return all virtual servers that have an address."""
        known = [read_service(message) for message in await _ask(self._servers.service("dump"))]
        return dict([server for server in known if server is not None])

    @_apart
    async def real_servers(self, address: Address) -> dict[RealServer, Load]:
        """Return the real servers of a virtual server; none if that is gone."""
        replies = await _ask(self._servers.dest("dump", service=service(address)))
        return dict([read_destination(message) for message in replies])

    @_apart
    async def put(self, address: Address, server: VirtualServer) -> None:
        """Make a virtual server, or change the one that is there."""
        message = service(address, server)
        if not await _done(self._servers.service("add", service=message), errno.EEXIST):
            await _ask(self._servers.service("set", service=message))

    @_apart
    async def remove(self, address: Address) -> None:
        """Remove a virtual server, if it is there."""
        await _done(self._servers.service("del", service=service(address)), *_GONE)

    @_apart
    async def put_real(self, address: Address, real: RealServer, weight: int = 1) -> None:
        """Make a real server, or change the one that is there."""
        server, message = service(address), destination(real, weight)
        if not await _done(self._servers.dest("add", service=server, dest=message), errno.EEXIST):
            await _ask(self._servers.dest("set", service=server, dest=message))

    @_apart
    async def remove_real(self, address: Address, real: RealServer) -> None:
        """Remove a real server, if it is there."""
        await _done(self._servers.dest("del", service=service(address), dest=destination(real)), *_GONE)

    @_apart
    async def set_timeouts(self, tcp: int, tcp_fin: int, udp: int) -> None:
        """Set how long idle connections are kept."""
        request = self._servers._do_request(timeouts(tcp, tcp_fin, udp))
        await _ask(request)

    # -- the link -----------------------------------------------------------------------------------------

    @_apart
    async def link(self) -> int:
        """Return the index of the link with the addresses of Services, which is made if it is not there."""
        index = await self.find_link()
        if not index:
            await _ask(self._links.link("add", ifname=LINK, kind="dummy"))
            index = await self.find_link()
            await _ask(self._links.link("set", index=index, flags=_UP_NO_ARP, change=_UP_NO_ARP))
        return index

    @_apart
    async def find_link(self) -> int:
        """Return the index of our link, or 0."""
        return next(iter(await _ask(self._links.link_lookup(ifname=LINK))), 0)

    @_apart
    async def remove_link(self) -> None:
        """Remove the link, if it is there, and its addresses with it."""
        index = await self.find_link()
        if index:
            await _ask(self._links.link("del", index=index))

    @_apart
    async def addresses(self, family: int) -> list[tuple[str, bool]]:
        """Return the addresses of this node, and of each whether our link has it."""
        index, found = await self.find_link(), []
        async for info in await _ask(self._links.addr("dump", family=_FAMILIES[family])):
            text = info.get("IFA_LOCAL") or info.get("IFA_ADDRESS")
            if text:
                found.append((text, info["index"] == index))
        return found

    @_apart
    async def bind(self, index: int, ip: str) -> None:
        """Give an address to the link."""
        bits = ipaddress.ip_address(ip).max_prefixlen
        await _done(self._links.addr("add", index=index, address=ip, prefixlen=bits), errno.EEXIST)

    @_apart
    async def unbind(self, index: int, ip: str) -> None:
        """Take an address from the link."""
        bits = ipaddress.ip_address(ip).max_prefixlen
        await _done(self._links.addr("del", index=index, address=ip, prefixlen=bits), errno.EADDRNOTAVAIL)


async def _sockets() -> tuple[AsyncIPVS, AsyncIPRoute]:
    """Return sockets of the loop that this runs on."""
    return AsyncIPVS(), AsyncIPRoute()


async def _ask(request: Awaitable[Any]) -> Any:
    """Return the kernel's answer; OSError with its number if it refuses."""
    try:
        return await request
    except NetlinkError as error:
        raise OSError(error.code, error.args[1]) from None


async def _done(request: Awaitable[Any], *unless: int) -> bool:
    """Return whether the kernel did something: not if it answers with one of these errors."""
    try:
        await _ask(request)
    except OSError as error:
        if error.errno not in unless:
            raise
        return False
    return True
