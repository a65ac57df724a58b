"""Cuts the network between nodes of a local cluster, by rules in the nodes' own network namespaces.

Each side drops what the other sends it, whatever addresses that has: packets of pods travel between nodes too. Nobody is told,
as when a switch fails, nor hears where an address is: the rules are at the link, for everything that it carries. What is cut off is a setting of the nodes (``apart``), from which the rules of each follow.
"""

from __future__ import annotations

from collections.abc import Iterable

from pybernetes.tools.local.network import network
from pybernetes.tools.local.network.balancer_rules import link_address
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings, SettingsError

ALL = "*"
HOST = "@host"  # this machine, where the control plane runs
_TABLE = "netdev pybernetes-partition"


def check(settings: Settings, name: str, others: Iterable[str]) -> None:
    """Raise SettingsError if a node cannot be cut off from others."""
    if settings.host_network:
        raise SettingsError("a node on the host's own network cannot be cut off")
    settings.node(name)
    for other in others:
        if other == name:
            raise SettingsError(f"{name} cannot be cut off from itself")
        if other not in (ALL, HOST):
            settings.node(other)


def rules(settings: Settings, name: str) -> str:
    """Return the input of nft that a node needs; rules of before go in the same step."""
    own = settings.node(name)
    arriving: list[str] = []
    leaving: list[str] = []
    if ALL in own.apart:
        arriving, leaving = ["drop"], ["drop"]
    else:
        apart = [node.name for node in settings.nodes if node.name in own.apart or name in node.apart]
        # Links have addresses that follow from those of IPv4, whatever family the packets are of.
        addresses = [network.address(settings.node_range, settings.node(other).number) for other in apart]
        if HOST in own.apart:
            host = network.gateway(settings.node_range)
            addresses.append(host)
            leaving = [f"ip daddr {host} drop", f"arp daddr ip {host} drop"]
            if settings.node_range_v6:
                leaving.append(f"ip6 daddr {network.gateway(settings.node_range_v6)} drop")
        arriving = [f"ether saddr {link_address(address)} drop" for address in addresses]
    lines = [f"table {_TABLE}", f"delete table {_TABLE}"]
    if arriving:
        lines += [
            f"table {_TABLE} {{",
            " chain arriving {",
            '  type filter hook ingress device "eth0" priority 0',
        ]
        lines += [*(f"  {rule}" for rule in arriving), " }"]
        lines += [" chain leaving {", '  type filter hook egress device "eth0" priority 0']
        lines += [*(f"  {rule}" for rule in leaving), " }", "}"]
    return "\n".join([*lines, ""])


def apply(cluster: Cluster, settings: Settings) -> None:
    """Make the rules of all nodes that run what they should be."""
    existing = network.nodes(cluster.name)
    for node in settings.nodes:
        if node.name in existing and not node.stopped:
            namespace = network.namespace(cluster.name, node.name)
            text = rules(settings, node.name)
            network.run("nsenter", f"--net=/run/netns/{namespace}", "--", "nft", "-f", "-", text=text)
