"""The kernel's virtual servers and the link with their addresses, over netlink. Thin.

Requests go out many at a time (``netlink``), since a system call and an answer for each would take most of a full sync. The
link itself is pyroute2's. Programs run on uvloop, which knows no netlink: what is asked for here runs on a loop of its own,
in a thread of its own.
"""

from __future__ import annotations

import asyncio
import errno
import functools
import os
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from pyroute2 import AsyncIPRoute
from pyroute2.netlink.exceptions import NetlinkError

from pybernetes.node.proxy.ipvs import messages, netlink
from pybernetes.node.proxy.ipvs.messages import Load
from pybernetes.node.proxy.ipvs.netlink import Request, Socket
from pybernetes.node.proxy.ipvs.virtual_servers import LINK, Address, RealServer, VirtualServer

_UP_NO_ARP = 0x81
_GONE = (errno.ESRCH, errno.ENOENT)
_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")


def has_virtual_servers() -> bool:
    """Return whether the kernel of this machine has virtual servers at all, loading its module if it can."""
    try:
        opened = Socket(netlink.GENERIC)
        try:
            _family(opened)
        finally:
            opened.close()
    except OSError:
        return False
    return True


def _family(opened: Socket) -> int:
    try:
        return messages.read_family(opened.ask(messages.find_family("IPVS"))[0])
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise OSError(errno.EOPNOTSUPP, "the kernel has no IPVS") from None
        raise


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
        sockets = asyncio.run_coroutine_threadsafe(_sockets(), self._loop).result()
        self._servers, self._addresses, self._links = sockets
        self._family = 0

    @_apart
    async def open(self) -> None:
        """Find out how the kernel calls its virtual servers, which loads what it needs for them."""
        self._family = _family(self._servers)

    def close(self) -> None:
        """Close the sockets; what was made stays."""
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join()
        self._loop.close()

    def _end(self) -> None:
        self._servers.close()
        self._addresses.close()
        self._links.close()
        self._loop.stop()

    # -- virtual servers -----------------------------------------------------------------------------------

    @_apart
    async def virtual_servers(self) -> dict[Address, VirtualServer]:
        """Return all virtual servers that have an address."""
        known = map(messages.read_server, self._servers.ask(messages.list_servers(self._family)))
        return dict([server for server in known if server is not None])

    @_apart
    async def real_servers(self, addresses: Collection[Address]) -> dict[Address, dict[RealServer, Load]]:
        """Return the real servers of virtual servers; none of one that is gone."""
        loads = {}
        for address in addresses:
            family = messages.family_of(address)
            listed = self._servers.ask(messages.list_real(self._family, address))
            loads[address] = dict([messages.read_real(body, family) for body in listed])
        return loads

    @_apart
    async def put(self, servers: Iterable[tuple[Address, VirtualServer]]) -> None:
        """Make virtual servers, or change those that are there."""
        wanted = [messages.server(address, settings) for address, settings in servers]
        self._put(messages.ADD_SERVER, messages.SET_SERVER, wanted)

    @_apart
    async def remove(self, addresses: Iterable[Address]) -> None:
        """Remove virtual servers that are there."""
        wanted = [messages.server(address) for address in addresses]
        _done(self._servers, self._changes(messages.REMOVE_SERVER, wanted), *_GONE)

    @_apart
    async def put_real(self, servers: Iterable[tuple[Address, RealServer]], weight: int = 1) -> None:
        """Make real servers, or change those that are there."""
        wanted = [messages.server(address) + messages.real_server(real, weight) for address, real in servers]
        self._put(messages.ADD_REAL, messages.SET_REAL, wanted)

    @_apart
    async def remove_real(self, servers: Iterable[tuple[Address, RealServer]]) -> None:
        """Remove real servers that are there."""
        wanted = [messages.server(address) + messages.real_server(real) for address, real in servers]
        _done(self._servers, self._changes(messages.REMOVE_REAL, wanted), *_GONE)

    @_apart
    async def set_timeouts(self, tcp: int, tcp_fin: int, udp: int) -> None:
        """Set how long idle connections are kept."""
        _done(self._servers, [messages.timeouts(self._family, tcp, tcp_fin, udp)])

    def _changes(self, command: int, wanted: Iterable[bytes]) -> list[Request]:
        return [messages.change(self._family, command, attributes) for attributes in wanted]

    def _put(self, add: int, change: int, wanted: Sequence[bytes]) -> None:
        """Add what is not there, then change what was."""
        errors = _done(self._servers, self._changes(add, wanted), errno.EEXIST)
        there = [attributes for attributes, error in zip(wanted, errors, strict=True) if error]
        _done(self._servers, self._changes(change, there))

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
        index = await self.find_link()
        listed = map(messages.read_address, self._addresses.ask(messages.list_addresses(family)))
        return [(ip, of == index) for ip, of in filter(None, listed)]

    @_apart
    async def bind(self, index: int, ips: Iterable[str]) -> None:
        """Give addresses to the link."""
        _done(self._addresses, [messages.bind(index, ip) for ip in ips], errno.EEXIST)

    @_apart
    async def unbind(self, index: int, ips: Iterable[str]) -> None:
        """Take addresses from the link."""
        _done(self._addresses, [messages.unbind(index, ip) for ip in ips], errno.EADDRNOTAVAIL)


async def _sockets() -> tuple[Socket, Socket, AsyncIPRoute]:
    """Return sockets of the loop and the thread that this runs on."""
    return Socket(netlink.GENERIC), Socket(netlink.ROUTE), AsyncIPRoute()


async def _ask(request: Awaitable[Any]) -> Any:
    """Return the kernel's answer; OSError with its number if it refuses."""
    try:
        return await request
    except NetlinkError as error:
        raise OSError(error.code, error.args[1]) from None


def _done(opened: Socket, requests: Sequence[Request], *unless: int) -> list[int]:
    """Send all requests to the kernel; raise OSError for the first that it refuses, unless with one of these errors."""
    errors = opened.carry_out(requests)
    refused = next((error for error in errors if error and error not in unless), 0)
    if refused:
        raise OSError(refused, os.strerror(refused))
    return errors
