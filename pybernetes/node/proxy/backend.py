"""What a mode of kube-proxy has to offer, and what it is told."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pybernetes.lib import discover
from pybernetes.node.proxy.change_tracker import Change
from pybernetes.node.proxy.commands import CommandError, run
from pybernetes.node.proxy.service_port import Node, ServicePort

PACKAGE = "pybernetes.node.proxy.backends"


class SyncError(Exception):
    """Rules could not be written; what is in the kernel is unknown until a full sync succeeds."""


@dataclass(frozen=True)
class LocalTraffic:
    """How traffic of this node's pods is told from other traffic; all empty: it is not."""

    ranges: tuple[str, ...] = ()  # source addresses
    interface: str = ""  # the bridge that it comes from, or the beginning of links' names with a + behind it

    def range(self, family: int) -> str:
        """The range of a family, or nothing."""
        return next((each for each in self.ranges if ipaddress.ip_network(each).version == family), "")

    def known(self, family: int) -> bool:
        """Whether local traffic can be told."""
        return bool(self.interface or self.range(family))


@dataclass
class Settings:
    """What every mode is told."""

    node: Node
    local: LocalTraffic = field(default_factory=LocalTraffic)
    masquerade_all: bool = False
    masquerade_bit: int = 14
    node_port_addresses: tuple[str, ...] = ()  # ranges, primary, localhost, all; nothing: as the mode does
    localhost_node_ports: bool = True
    tcp_be_liberal: bool = False
    service_ranges: tuple[str, ...] = ()

    @property
    def mark(self) -> str:
        """The mark of packets that are to be masqueraded."""
        return f"{1 << self.masquerade_bit:#010x}"

    def node_address(self, family: int) -> str:
        """The node's own address, or nothing."""
        found = (each for each in self.node.addresses if ipaddress.ip_address(each).version == family)
        return next(found, "")


class Backend(Protocol):
    """One mode, for one family of addresses."""

    settings: Settings

    async def resync(self, portals: Iterable[ServicePort]) -> None:
        """Makes the kernel match, whatever is in it. SyncError if it could not be done."""

    async def sync(self, changes: Sequence[Change]) -> None:
        """Brings in what changed, after a ``resync``. SyncError if it could not be done."""

    async def close(self) -> None:
        """Ends what runs in this process; rules stay."""

    def figures(self) -> dict[tuple[str, ...], float]:
        """What the mode counts: a metric's name without its prefix, and the values of its labels."""


class Mode(Protocol):
    """What a file in ``backends`` has as its ``MODE``."""

    def __call__(self, settings: Settings, family: int) -> Backend: ...

    async def cleanup(self) -> None:
        """Removes whatever the mode may have left in this network namespace."""


def modes() -> dict[str, Mode]:
    """Every mode by name."""
    return discover.discover(PACKAGE, "MODE")


async def own_addresses() -> list[str]:
    """The addresses of all links in this network namespace."""
    try:
        links = json.loads(await run("ip", "-json", "address", "show"))
    except CommandError as error:
        raise SyncError(str(error)) from None
    return [each["local"] for link in links for each in link.get("addr_info", ()) if "local" in each]


def node_port_ranges(given: Sequence[str], node: Node, family: int) -> tuple[str, ...] | None:
    """The ranges that node ports are served on; None for all addresses."""
    found: list[str] = []
    for each in given:
        if each == "all":
            return None
        if each == "primary":
            own = [one for one in node.addresses if ipaddress.ip_address(one).version == family][:1]
            found.extend(str(ipaddress.ip_network(one)) for one in own)
        elif each == "localhost":
            found.append("127.0.0.0/8" if family == 4 else "::1/128")
        else:
            network = ipaddress.ip_network(each, strict=False)
            if network.version == family:
                if network.prefixlen == 0:
                    return None
                found.append(str(network))
    return tuple(found)


def node_port_ips(given: Sequence[str], node: Node, family: int, own: Sequence[str]) -> list[str] | None:
    """Those of the node's addresses that node ports are served on; None for all of them."""
    ranges = node_port_ranges(given, node, family)
    if ranges is None:
        return None
    networks = [ipaddress.ip_network(each) for each in ranges]
    return [each for each in own if any(ipaddress.ip_address(each) in network for network in networks)]
