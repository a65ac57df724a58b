"""How traffic of the node's own pods is distinguished from other traffic."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.node.proxy import config
from pybernetes.node.proxy.node import Node


@dataclass(frozen=True)
class LocalTraffic:
    """What traffic of this node's pods looks like; if all is empty, it cannot be distinguished."""

    ranges: tuple[str, ...] = ()  # of source addresses
    interface: str = (
        ""  # the bridge that it comes from, or a prefix of interface names followed by a plus sign
    )

    def range(self, family: int) -> str:
        """Return the range of an address family, or an empty text."""
        return next((text for text in self.ranges if ipaddress.ip_network(text).version == family), "")

    def known(self, family: int) -> bool:
        """Return whether local traffic can be distinguished."""
        return bool(self.interface or self.range(family))


def detect_local_traffic(configuration: Object, node: Node) -> LocalTraffic:
    """Return what local traffic looks like, as ``detectLocalMode`` says."""
    mode = configuration["detectLocalMode"] or "ClusterCIDR"
    if mode == "NodeCIDR":
        return LocalTraffic(ranges=node.pod_ranges)
    if mode == "BridgeInterface":
        return LocalTraffic(interface=configuration["detectLocal"]["bridgeInterface"])
    if mode == "InterfaceNamePrefix":
        prefix = configuration["detectLocal"]["interfaceNamePrefix"]
        return LocalTraffic(interface=f"{prefix}+" if prefix else "")
    return LocalTraffic(ranges=tuple(config.cluster_ranges(configuration)))
