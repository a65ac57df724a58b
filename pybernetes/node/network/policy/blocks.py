"""Blocks of addresses without some of their parts, as ranges. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import NamedTuple

Network = IPv4Network | IPv6Network


class Range(NamedTuple):
    """Addresses of one family, both ends included."""

    version: int
    first: int
    last: int

    def __str__(self) -> str:
        first, last = (str(_address(self.version, number)) for number in (self.first, self.last))
        return first if first == last else f"{first}-{last}"


def _address(version: int, number: int) -> object:
    return ip_address(number.to_bytes(4 if version == 4 else 16, "big"))


def whole(network: Network) -> Range:
    """Return a block as a range."""
    return Range(network.version, int(network.network_address), int(network.broadcast_address))


def without(network: Network, exceptions: Iterable[Network]) -> Iterator[Range]:
    """Yield the ranges of a block that are in none of the exceptions."""
    block = whole(network)
    start = block.first
    for hole in sorted(whole(inner) for inner in exceptions if inner.version == network.version):
        if hole.first > start:
            yield Range(block.version, start, min(hole.first - 1, block.last))
        start = max(start, hole.last + 1)
        if start > block.last:
            return
    yield Range(block.version, start, block.last)


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Return ranges that mean the same and do not touch each other."""
    result: list[Range] = []
    for one in sorted(ranges):
        last = result[-1] if result else None
        if last is not None and last.version == one.version and one.first <= last.last + 1:
            result[-1] = Range(last.version, last.first, max(last.last, one.last))
        else:
            result.append(one)
    return result
