"""The addresses of the node that node ports are served on."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence

from pybernetes.lib.processes.commands import CommandError, run
from pybernetes.node.proxy.backend import SyncError
from pybernetes.node.proxy.node import Node


async def own_addresses() -> list[str]:
    """Return the addresses of all links in this network namespace; SyncError if they cannot be read."""
    try:
        links = json.loads(await run("ip", "-json", "address", "show"))
    except CommandError as error:
        raise SyncError(str(error)) from None
    return [info["local"] for link in links for info in link.get("addr_info", ()) if "local" in info]


def node_port_ranges(selectors: Sequence[str], node: Node, family: int) -> tuple[str, ...] | None:
    """Return the ranges that node ports are served on; None for all addresses.

    A selector is a range, ``primary``, ``localhost`` or ``all``.
    """
    ranges: list[str] = []
    for selector in selectors:
        if selector == "all":
            return None
        if selector == "primary":
            of_family = [
                address for address in node.addresses if ipaddress.ip_address(address).version == family
            ]
            ranges.extend(str(ipaddress.ip_network(address)) for address in of_family[:1])
        elif selector == "localhost":
            ranges.append("127.0.0.0/8" if family == 4 else "::1/128")
        else:
            network = ipaddress.ip_network(selector, strict=False)
            if network.version == family:
                if network.prefixlen == 0:
                    return None
                ranges.append(str(network))
    return tuple(ranges)


def node_port_ips(
    selectors: Sequence[str], node: Node, family: int, addresses: Sequence[str]
) -> list[str] | None:
    """Return those of the node's addresses that node ports are served on; None for all of them."""
    ranges = node_port_ranges(selectors, node, family)
    if ranges is None:
        return None
    networks = [ipaddress.ip_network(text) for text in ranges]
    return [
        address
        for address in addresses
        if any(ipaddress.ip_address(address) in network for network in networks)
    ]


def health_check_ips(selectors: Sequence[str], node: Node, addresses: Sequence[str]) -> list[str]:
    """Return where health-check ports are served: of the node's families, where node ports are.

    All addresses of IPv6 are those of IPv4 as well, as one listener has them.
    """
    families = sorted({ipaddress.ip_address(address).version for address in node.addresses}) or [4]
    by_family = {family: node_port_ips(selectors, node, family, addresses) for family in families}
    if all(chosen is None for chosen in by_family.values()):
        return ["::" if 6 in families else "0.0.0.0"]
    result: list[str] = []
    for family, chosen in by_family.items():
        everywhere = ["0.0.0.0"] if family == 4 else [text for text in addresses if ":" in text]
        result += everywhere if chosen is None else chosen
    return [text for text in result if not ipaddress.ip_address(text).is_link_local]
