"""Makes the kernel have the links, routes and neighbours of a plan, and no others of ours (rtnetlink)."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from pyroute2 import AsyncIPRoute
from pyroute2.netlink.exceptions import NetlinkError

from pybernetes.node.network.plan import DEVICE, UNREACHABLE_METRIC, Address, Overlay, Plan, Route

# The kernel keeps this number with each route, so that we know ours; see /etc/iproute2/rt_protos.
PROTOCOL = 80
_UNREACHABLE, _UNICAST = 7, 1
_ONLINK = 4
_PERMANENT, _NOARP = 0x80, 0x40
_SELF = 2  # NTF_SELF: the forwarding entries of the device itself, not of a bridge
_FAMILY: dict[int, int] = {4: socket.AF_INET, 6: socket.AF_INET6}
_MAIN_TABLE = 254


class Kernel:
    """The kernel's tables of one network namespace: the one of the caller's thread."""

    def __init__(self) -> None:
        self._netlink = AsyncIPRoute()

    def close(self) -> None:
        """Close the socket; what was made stays."""
        self._netlink.close()

    async def underlay(self, address: Address) -> tuple[int, int]:
        """Return the index and the MTU of the link that has an address; (0, 0) if no link has it."""
        async for info in await self._netlink.addr("dump", family=_FAMILY[address.version]):
            if address in (_address(info.get("local")), _address(info.get("address"))):
                async for link in await self._netlink.link("dump"):
                    if link["index"] == info["index"]:
                        return link["index"], link.get("mtu") or 0
        return 0, 0

    async def apply(self, plan: Plan, underlay: int) -> None:
        """Make the tables match the plan."""
        for version in {network.version for network in plan.cluster}:
            _turn_on(f"net/ipv{version}/" + ("ip_forward" if version == 4 else "conf/all/forwarding"))
            _turn_on(f"net/bridge/bridge-nf-call-ip{'6' if version == 6 else ''}tables", optional=True)
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
        """Return the index of the right device; one that cannot be changed is made anew."""
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
            _turn_on(f"net/ipv6/conf/{DEVICE}/addr_gen_mode", optional=True)
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
        present: set[Address] = set()
        async for info in await self._netlink.addr("dump", index=device):
            address = _address(info.get("address"))
            if address is None or address.is_link_local:
                continue
            if address in overlay.addresses:
                present.add(address)
            else:
                await self._netlink.addr(
                    "del", index=device, address=str(address), prefixlen=info["prefixlen"]
                )
        for address in overlay.addresses - present:
            await self._netlink.addr(
                "add", index=device, address=str(address), prefixlen=address.max_prefixlen
            )

    async def _neighbours(self, overlay: Overlay, device: int) -> None:
        present: set[tuple[Address, str]] = set()
        for family in _FAMILY.values():
            async for neighbour in await self._netlink.neigh("dump", family=family):
                if neighbour["ifindex"] != device or not neighbour["state"] & _PERMANENT:
                    continue
                address = ip_address(neighbour.get("dst"))
                entry = (address, neighbour.get("lladdr") or "")
                if entry in overlay.neighbours:
                    present.add(entry)
                elif address not in {peer_address for peer_address, _ in overlay.neighbours}:
                    await self._netlink.neigh("del", ifindex=device, dst=str(address), family=family)
        for address, mac in overlay.neighbours - present:
            await self._netlink.neigh(
                "replace", ifindex=device, dst=str(address), lladdr=mac, state=_PERMANENT,
                family=_FAMILY[address.version],
            )  # fmt: skip

    async def _forwarding(self, overlay: Overlay, device: int) -> None:
        present: set[tuple[str, Address]] = set()
        macs = {mac for mac, _ in overlay.forwarding}
        async for forwarding_entry in await self._netlink.fdb("dump"):
            remote = _address(forwarding_entry.get("dst"))
            if forwarding_entry["ifindex"] != device or remote is None:
                continue
            entry = (forwarding_entry.get("lladdr"), remote)
            if entry in overlay.forwarding:
                present.add(entry)
            elif entry[0] not in macs:
                await self._netlink.fdb("del", ifindex=device, lladdr=entry[0], dst=str(remote))
        for mac, remote in overlay.forwarding - present:
            await self._netlink.fdb(
                "replace", ifindex=device, lladdr=mac, dst=str(remote), state=_PERMANENT | _NOARP, flags=_SELF
            )

    # -- routes ------------------------------------------------------------------------------------------

    async def _routes(self, plan: Plan, device: int) -> None:
        present: set[Route] = set()
        stale: list[dict[str, Any]] = []
        for version, family in _FAMILY.items():
            async for message in await self._netlink.route("dump", family=family, table=_MAIN_TABLE):
                if message["proto"] != PROTOCOL or message.get("table", message["table"]) != _MAIN_TABLE:
                    continue
                route = _route(message, version, device)
                if route is not None and route in plan.routes and route not in present:
                    present.add(route)
                else:
                    stale.append(_deletion_request(message, version, family))
        # Old ones go first: IPv6 refuses a gateway that another route leads to. Meanwhile no packet leaks.
        for request in stale:
            try:
                await self._netlink.route("del", **request)
            except NetlinkError as error:
                if error.code != errno.ESRCH:  # it went with its link
                    raise
        for route in sorted(plan.routes - present, key=lambda route: not route.unreachable):
            await self._netlink.route("replace", **_route_request(route, device))


def _same(link: Any, overlay: Overlay, underlay: int) -> bool:
    """Return whether a link is the overlay's device, with all that cannot be changed later."""
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
    """Return a route of the kernel as a route of a plan; None if no plan has such a route."""
    default = "0.0.0.0" if version == 4 else "::"
    destination = ip_network(f"{message.get('dst') or default}/{message['dst_len']}")
    if message["type"] == _UNREACHABLE:
        return Route(destination)
    gateway = _address(message.get("gateway"))
    if gateway is None:
        return None
    overlay = bool(device) and message.get("oif") == device
    return Route(destination, gateway, overlay)


def _route_request(route: Route, device: int) -> dict[str, Any]:
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


def _deletion_request(message: Any, version: int, family: int) -> dict[str, Any]:
    """Return the request that deletes a route of the kernel."""
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


def _turn_on(name: str, *, optional: bool = False) -> None:
    """Turn a setting of the kernel on, unless it is on already."""
    path = Path("/proc/sys") / name
    try:
        if path.read_text().strip() != "1":
            path.write_text("1")
    except OSError:
        if not optional:
            raise


def with_kernel(task: Callable[[Kernel], Awaitable[None]]) -> None:
    """Run a task with the kernel's tables on a loop of its own, since uvloop knows no netlink; call it in a thread."""

    async def run() -> None:
        kernel = Kernel()
        try:
            await task(kernel)
        finally:
            kernel.close()

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(run())
