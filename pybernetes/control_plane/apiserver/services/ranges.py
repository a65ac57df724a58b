"""Ranges of addresses and ports. Each keeps a lower band for those who ask for a certain one.

What is given away without a wish comes from the upper band, from a random place onwards, and from the lower
band only once the upper one is full.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

_MAX_SIZE = 2**64 - 1


def band(size: int, low: int, high: int, step: int) -> int:
    """Return how many places at the start are kept for wishes: a part of the whole, within limits."""
    return 0 if size <= low else min(max(low, size // step), high)


def _from_random(first: int, last: int, random: Random) -> Iterator[int]:
    """Return every number of a range once, from a random one on and around."""
    if first > last:
        return
    start = random.randint(first, last)
    yield from range(start, last + 1)
    yield from range(first, start)


class AddressRange:
    """The usable addresses of a CIDR: not the network's own, and for IPv4 not the broadcast address."""

    __slots__ = ("_offset", "cidr", "family", "first", "last", "network", "size")

    def __init__(self, cidr: str) -> None:
        self.network = ipaddress.ip_network(cidr)
        if self.network.version == 6 and self.network.prefixlen < 64:
            raise ValueError(
                f"shortest allowed prefix length for service CIDR is 64, got {self.network.prefixlen}"
            )
        self.cidr = str(self.network)
        self.family = f"IPv{self.network.version}"
        self.first = int(self.network.network_address) + 1
        self.last = int(self.network.broadcast_address) - (1 if self.network.version == 4 else 0)
        self.size = min(max(self.last - self.first + 1, 0), _MAX_SIZE)
        self._offset = band(self.network.num_addresses, 16, 256, 16)

    def address(self, number: int) -> str:
        """Return the canonical text of an address, given as a number."""
        return str(type(self.network.network_address)(number))

    def __contains__(self, text: str) -> bool:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        return address.version == self.network.version and self.first <= int(address) <= self.last

    def candidates(self, random: Random) -> Iterator[str]:
        """Return every address, in the order in which they are tried."""
        middle = self.first + self._offset
        for number in _from_random(middle, self.last, random):
            yield self.address(number)
        for number in _from_random(self.first, min(middle - 1, self.last), random):
            yield self.address(number)

    def __repr__(self) -> str:
        return f"AddressRange({self.cidr!r})"


@dataclass(frozen=True, slots=True)
class PortRange:
    """Ports from the first to the last, both included."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> PortRange:
        """Return a range as a flag gives it: ``30000-32767``, ``30000+2767`` or one port."""
        try:
            if "-" in text:
                first, last = (int(part) for part in text.split("-", 1))
            elif "+" in text:
                first, more = (int(part) for part in text.split("+", 1))
                last = min(first + more, 65535)
            else:
                first = last = int(text)
        except ValueError:
            raise ValueError(f"unable to parse port range: {text}") from None
        if not 0 < first <= last <= 65535:
            raise ValueError(f"the port range must be within 1 and 65535: {text}")
        return cls(first, last)

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def __contains__(self, port: int) -> bool:
        return self.first <= port <= self.last

    def candidates(self, random: Random) -> Iterator[int]:
        """Return every port, in the order in which they are tried."""
        middle = self.first + band(self.last - self.first + 1, 16, 128, 32)
        yield from _from_random(middle, self.last, random)
        yield from _from_random(self.first, min(middle - 1, self.last), random)
