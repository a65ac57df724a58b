"""Two nodes of a cluster with both address families."""

from __future__ import annotations

from typing import Any

from pybernetes.node.network.plan import peer


def node(name: str, *ranges: str, addresses: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a Node object."""
    listed = [{"type": "Hostname", "address": name}]
    listed += [{"type": "InternalIP", "address": address} for address in addresses]
    return {"metadata": {"name": name}, "spec": {"podCIDRs": list(ranges)}, "status": {"addresses": listed}}


ONE = peer(node("one", "10.244.1.0/24", "fd00:1::/64", addresses=("192.0.2.1", "2001:db8::1")))
TWO = peer(node("two", "10.244.2.0/24", "fd00:2::/64", addresses=("192.0.2.2", "2001:db8::2")))
ALL = ("10.244.0.0/16", "fd00::/16")
