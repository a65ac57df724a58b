"""Makes the kernel have the links, routes and neighbours of a plan, and no others of ours (rtnetlink)."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Iterator
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from pyroute2 import AsyncIPRoute
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl import RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_ROUTE, RTMGRP_LINK

from pybernetes.node.network.plan import DEVICE, UNREACHABLE_METRIC, Address, Overlay, Plan, Route

# By this number the kernel remembers whose routes they are; see /etc/iproute2/rt_protos.
PROTOCOL = 80
_UNREACHABLE, _UNICAST = 7, 1
_ONLINK = 4
_PERMANENT, _NOARP = 0x80, 0x40
_SELF = 2  # NTF_SELF: the forwarding entries of the device itself, not of a bridge
_FAMILY: dict[int, int] = {4: socket.AF_INET, 6: socket.AF_INET6}
_MAIN_TABLE = 254
# Kinds of news, and where in them to find things (linux/rtnetlink.h, linux/if_link.h).
_NEW_LINK, _DELETED_LINK, _DELETED_ROUTE = 16, 17, 25
_NAME, _MTU, _ROUTE_PROTOCOL = 3, 4, 5
_UP = 1  # the flag of a link that is switched on
_POD_LINK = "veth"  # pods come and go with links that the bridge plugin names so


class Kernel:
    """The kernel's tables of one network namespace: the one of the caller's thread."""

    def __init__(self) -> None:
        self._netlink = AsyncIPRoute()

    def close(self) -> None:
        """Ends the conversation; what was made stays."""
        self._netlink.close()

    async def underlay(self, address: Address) -> tuple[int, int]:
        """The index and the MTU of the link that has an address; (0, 0) if no link has it."""
        async for each in await self._netlink.addr("dump", family=_FAMILY[address.version]):
            if address in (_address(each.get("local")), _address(each.get("address"))):
                async for link in await self._netlink.link("dump"):
                    if link["index"] == each["index"]:
                        return link["index"], link.get("mtu") or 0
        return 0, 0

    async def apply(self, plan: Plan, underlay: int) -> None:
        """Makes the tables match the plan."""
        for version in {each.version for each in plan.cluster}:
            _switch(f"net/ipv{version}/" + ("ip_forward" if version == 4 else "conf/all/forwarding"))
            _switch(f"net/bridge/bridge-nf-call-ip{'6' if version == 6 else ''}tables", optional=True)
        device = await self._device(plan.overlay, plan.mtu, underlay)
        if plan.overlay is not None:
            await self._addresses(plan.overlay, device)
            await self._neighbours(plan.overlay, device)
            await self._forwarding(plan.overlay, device)
        await self._routes(plan, device)

    # -- the overlay's device ----------------------------------------------------------------------------

    async def _link(self) -> Any:
        async for link in await self._netlink.link("dump"):
            if link.get("ifname") == DEVICE:
                return link
        return None

    async def _device(self, overlay: Overlay | None, mtu: int, underlay: int) -> int:
        """The index of a device that is as it should be; one that can not be changed is made anew."""
        link = await self._link()
        if link is not None and (overlay is None or not _same(link, overlay, underlay)):
            await self._netlink.link("del", index=link["index"])
            link = None
        if overlay is None:
            return 0
        if link is None:
            local = "vxlan_local" if overlay.local.version == 4 else "vxlan_local6"
            await self._netlink.link(
                "add", ifname=DEVICE, kind="vxlan", address=overlay.mac, vxlan_id=overlay.vni,
                vxlan_port=overlay.port, vxlan_link=underlay, vxlan_learning=0, **{local: str(overlay.local)},
            )  # fmt: skip
            _switch(f"net/ipv6/conf/{DEVICE}/addr_gen_mode", optional=True)
            link = await self._link()
        changes: dict[str, Any] = {}
        if mtu and link.get("mtu") != mtu:
            changes["mtu"] = mtu
        if not link["flags"] & 1:
            changes["state"] = "up"
        if changes:
            await self._netlink.link("set", index=link["index"], **changes)
        return link["index"]

    async def _addresses(self, overlay: Overlay, device: int) -> None:
        found: set[Address] = set()
        async for each in await self._netlink.addr("dump", index=device):
            address = _address(each.get("address"))
            if address is None or address.is_link_local:
                continue
            if address in overlay.addresses:
                found.add(address)
            else:
                await self._netlink.addr(
                    "del", index=device, address=str(address), prefixlen=each["prefixlen"]
                )
        for address in overlay.addresses - found:
            await self._netlink.addr(
                "add", index=device, address=str(address), prefixlen=address.max_prefixlen
            )

    async def _neighbours(self, overlay: Overlay, device: int) -> None:
        found: set[tuple[Address, str]] = set()
        for family in _FAMILY.values():
            async for each in await self._netlink.neigh("dump", family=family):
                if each["ifindex"] != device or not each["state"] & _PERMANENT:
                    continue
                address = ip_address(each.get("dst"))
                entry = (address, each.get("lladdr") or "")
                if entry in overlay.neighbours:
                    found.add(entry)
                elif address not in {known for known, _ in overlay.neighbours}:
                    await self._netlink.neigh("del", ifindex=device, dst=str(address), family=family)
        for address, mac in overlay.neighbours - found:
            await self._netlink.neigh(
                "replace", ifindex=device, dst=str(address), lladdr=mac, state=_PERMANENT,
                family=_FAMILY[address.version],
            )  # fmt: skip

    async def _forwarding(self, overlay: Overlay, device: int) -> None:
        found: set[tuple[str, Address]] = set()
        macs = {mac for mac, _ in overlay.forwarding}
        async for each in await self._netlink.fdb("dump"):
            remote = _address(each.get("dst"))
            if each["ifindex"] != device or remote is None:
                continue
            entry = (each.get("lladdr"), remote)
            if entry in overlay.forwarding:
                found.add(entry)
            elif entry[0] not in macs:
                await self._netlink.fdb("del", ifindex=device, lladdr=entry[0], dst=str(remote))
        for mac, remote in overlay.forwarding - found:
            await self._netlink.fdb(
                "replace", ifindex=device, lladdr=mac, dst=str(remote), state=_PERMANENT | _NOARP, flags=_SELF
            )

    # -- routes ------------------------------------------------------------------------------------------

    async def _routes(self, plan: Plan, device: int) -> None:
        found: set[Route] = set()
        stale: list[dict[str, Any]] = []
        for version, family in _FAMILY.items():
            async for each in await self._netlink.route("dump", family=family, table=_MAIN_TABLE):
                if each["proto"] != PROTOCOL or each.get("table", each["table"]) != _MAIN_TABLE:
                    continue
                route = _route(each, version, device)
                if route is not None and route in plan.routes and route not in found:
                    found.add(route)
                else:
                    stale.append(_request(each, version, family))
        # Old ones go first: IPv6 takes no gateway that another route leads to. Meanwhile nothing leaks.
        for request in stale:
            try:
                await self._netlink.route("del", **request)
            except NetlinkError as error:
                if error.code != errno.ESRCH:  # it went with its link
                    raise
        for route in sorted(plan.routes - found, key=lambda each: not each.unreachable):
            await self._netlink.route("replace", **_wanted(route, device))


def _same(link: Any, overlay: Overlay, underlay: int) -> bool:
    """Whether a link is the overlay's device with all that can not be changed later."""
    info = link.get(("linkinfo", "data"))
    if link.get(("linkinfo", "kind")) != "vxlan" or info is None:
        return False
    local = info.get("vxlan_local") or info.get("vxlan_local6")
    return (
        info.get("vxlan_id") == overlay.vni
        and info.get("vxlan_port") == overlay.port
        and info.get("vxlan_link") == underlay
        and _address(local) == overlay.local
        and link.get("address") == overlay.mac
    )


def _address(text: str | None) -> Address | None:
    return ip_address(text) if text else None


def _route(message: Any, version: int, device: int) -> Route | None:
    """A route of the kernel as we would have asked for it; None if we never would."""
    default = "0.0.0.0" if version == 4 else "::"
    destination = ip_network(f"{message.get('dst') or default}/{message['dst_len']}")
    if message["type"] == _UNREACHABLE:
        return Route(destination)
    gateway = _address(message.get("gateway"))
    if gateway is None:
        return None
    overlay = bool(device) and message.get("oif") == device
    return Route(destination, gateway, overlay)


def _wanted(route: Route, device: int) -> dict[str, Any]:
    request: dict[str, Any] = {
        "dst": str(route.destination),
        "family": _FAMILY[route.destination.version],
        "proto": PROTOCOL,
        "table": _MAIN_TABLE,
    }
    if route.unreachable:
        return {**request, "type": _UNREACHABLE, "priority": UNREACHABLE_METRIC}
    request |= {"type": _UNICAST, "gateway": str(route.gateway)}
    return {**request, "oif": device, "flags": _ONLINK} if route.overlay else request


def _request(message: Any, version: int, family: int) -> dict[str, Any]:
    """How to have a route of the kernel deleted."""
    default = "0.0.0.0" if version == 4 else "::"
    request = {
        "dst": f"{message.get('dst') or default}/{message['dst_len']}",
        "family": family,
        "proto": PROTOCOL,
        "type": message["type"],
        "table": _MAIN_TABLE,
    }
    for name in ("gateway", "oif", "priority"):
        if message.get(name):
            request[name] = message.get(name)
    return request


def _switch(name: str, *, optional: bool = False) -> None:
    """Turns a setting of the kernel on, if it is not."""
    path = Path("/proc/sys") / name
    try:
        if path.read_text().strip() != "1":
            path.write_text("1")
    except OSError:
        if not optional:
            raise


def converse(task: Callable[[Kernel], Awaitable[None]]) -> None:
    """Has something done with the kernel, on a loop of its own: uvloop knows no netlink. For a thread."""

    async def run() -> None:
        kernel = Kernel()
        try:
            await task(kernel)
        finally:
            kernel.close()

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(run())


class News:
    """Tells whenever a link changes or a route of ours goes."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._states: dict[str, tuple[int, int]] = {}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0)
        self._socket.bind((0, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE))
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._read)

    def _read(self) -> None:
        try:
            data = self._socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:  # more news than the socket holds: some are lost
            self._states.clear()
            self._changed()
            return
        if any([self._matters(kind, body) for kind, body in _messages(data)]):
            self._changed()

    def _matters(self, kind: int, body: bytes) -> bool:
        if kind == _DELETED_ROUTE:
            return body[_ROUTE_PROTOCOL] == PROTOCOL
        if kind not in (_NEW_LINK, _DELETED_LINK):
            return False
        name, mtu = "", 0
        for attribute, value in _attributes(body[16:]):
            if attribute == _NAME:
                name = value.rstrip(b"\0").decode()
                if name.startswith(_POD_LINK):
                    return False
            elif attribute == _MTU:
                mtu = int.from_bytes(value, sys.byteorder)
        # A bridge loses its carrier with its last pod and gets it back with the next, which changes nothing here.
        up = struct.unpack_from("=I", body, 8)[0] & _UP
        state = (up, mtu) if kind == _NEW_LINK else (0, 0)
        before, self._states[name] = self._states.get(name), state
        return before != state

    def close(self) -> None:
        """Listens no more."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        self._socket.close()


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the body of each netlink message."""
    at = 0
    while at + 16 <= len(data):
        length, kind = struct.unpack_from("=IH", data, at)
        if length < 16:
            return
        yield kind, data[at + 16 : at + length]
        at += (length + 3) & ~3


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4:
            return
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += (length + 3) & ~3
