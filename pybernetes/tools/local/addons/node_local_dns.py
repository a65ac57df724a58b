"""The cache of names on each node of a local cluster: at upstream's address, asking the cluster's name server over TCP."""

from __future__ import annotations

import asyncio
import errno

from pybernetes.node.dns import usual
from pybernetes.node.dns.name_server import NameServer
from pybernetes.node.dns.plugin import Environment
from pybernetes.node.dns.usual import NODE_LOCAL_ADDRESS


def add_address(address: str = NODE_LOCAL_ADDRESS) -> None:
    """Give the loopback of this network namespace the address; it goes with the namespace."""
    from pyroute2 import IPRoute, NetlinkError  # takes a while to import

    with IPRoute() as route:
        loopback = route.link_lookup(ifname="lo")[0]
        try:
            route.addr("add", index=loopback, address=address, prefixlen=32)
        except NetlinkError as error:
            if error.code != errno.EEXIST:
                raise


async def run(domain: str, service: str) -> None:
    """Answer until cancelled; the names are asked for at a service of the cluster."""
    await asyncio.to_thread(add_address)  # netlink's library has a loop of its own
    server = NameServer(None, Environment(files=frozenset()))
    await server.load(usual.node_local(domain, service))
    try:
        await asyncio.Event().wait()
    finally:
        await server.close()
