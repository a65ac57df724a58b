"""The addresses of a pod, as far as what the network plugin gave can be one. Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable


def pod_addresses(given: Iterable[str]) -> tuple[str, ...]:
    """Return a pod's addresses, the first of each family in the one spelling that everybody reads alike.

    A plugin may give anything. What is no address, or none that others can reach the pod by, would keep the pod's status,
    and the endpoints of its services, from being written at all.
    """
    chosen: dict[int, str] = {}
    for text in given:
        try:
            address = ipaddress.ip_address(text.partition("/")[0]) if "%" not in text else None
        except ValueError:
            continue
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        if address is None or address.is_unspecified or address.is_loopback or address.is_multicast:
            continue
        chosen.setdefault(address.version, str(address))
    return tuple(chosen.values())
