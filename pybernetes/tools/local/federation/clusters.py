"""Which local clusters a federation has, and what each is made with: pure."""

from __future__ import annotations

import ipaddress
from typing import Any

DEFAULT = "federation"
_MOST = 60  # ranges of addresses there are
# Pods and services of members have ranges of their own, so that they can be connected.
_PODS, _SERVICES = ipaddress.IPv4Network("10.128.0.0/10"), ipaddress.IPv4Network("10.192.0.0/10")


def members(name: str, count: int) -> list[str]:
    """Return the names of a federation's members."""
    if not 1 <= count <= _MOST:
        raise ValueError(f"--clusters: {count} is not a number from 1 to {_MOST}")
    return [f"{name}-{number}" for number in range(1, count + 1)]


def member_settings(number: int, hollow: int | None) -> dict[str, Any]:
    """Return what the member of a number, from 1 on, is made with: a real node, or so many hollow ones."""
    settings: dict[str, Any] = {
        "pod_range": str(_nth(_PODS, number)),
        "service_range": str(_nth(_SERVICES, number)),
    }
    return settings | ({"nodes": 1} if hollow is None else {"hollow": hollow})


def _nth(network: ipaddress.IPv4Network, number: int) -> ipaddress.IPv4Network:
    first = int(network.network_address) + number * 2**16
    return ipaddress.IPv4Network((first, 16))
