"""bind ADDRESS|INTERFACE…: where the block is answered."""

from __future__ import annotations

import ipaddress
from concurrent.futures import ThreadPoolExecutor

from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.plugin import Controller, Plugin


def setup(controller: Controller) -> None:
    """Set the addresses of a block."""
    addresses: list[str] = []
    for directive in controller.directives:
        if not directive.arguments:
            raise CorefileError("at least one address or interface expected")
        for line in directive.inner:
            raise CorefileError(f'invalid option "{line.words[0]}"')
        for text in directive.arguments:
            try:
                addresses.append(str(ipaddress.ip_address(text)))
            except ValueError:
                with ThreadPoolExecutor(1) as aside:  # netlink's library has a loop of its own
                    addresses += aside.submit(_of_interface, text).result()
    controller.hosts = tuple(dict.fromkeys(addresses))


def _of_interface(name: str) -> list[str]:
    from pyroute2 import IPRoute

    with IPRoute() as route:
        indexes = route.link_lookup(ifname=name)
        if not indexes:
            raise CorefileError(f'not a valid IP address or interface name: "{name}"')
        return [message.get_attr("IFA_ADDRESS") for message in route.get_addr(index=indexes[0])]


PLUGIN = Plugin(setup, passes_cluster_names=True)
