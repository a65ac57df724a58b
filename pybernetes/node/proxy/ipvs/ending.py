"""Real servers that get no new connections and stay until the old ones have ended. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pybernetes.node.proxy.ipvs.virtual_servers import Address, RealServer

CHECK_SECONDS = 60.0  # as upstream; nothing is checked while nothing ends


class Ending:
    """The real servers that end."""

    def __init__(self) -> None:
        self._servers: set[tuple[Address, RealServer]] = set()

    def __bool__(self) -> bool:
        return bool(self._servers)

    def __contains__(self, server: tuple[Address, RealServer]) -> bool:
        return server in self._servers

    def __iter__(self) -> Iterator[tuple[Address, RealServer]]:
        return iter(tuple(self._servers))

    def add(self, address: Address, real: RealServer) -> None:
        """Note that a real server ends."""
        self._servers.add((address, real))

    def discard(self, address: Address, real: RealServer) -> None:
        """Note that one does not end, or is gone."""
        self._servers.discard((address, real))

    def forget(self, address: Address) -> None:
        """Note that a virtual server is gone, and its real servers with it."""
        self._servers = {server for server in self._servers if server[0] != address}


def may_go(address: Address, connections: int) -> bool:
    """Return whether a real server may be removed: datagrams wait for nobody, and the kernel forgets them."""
    return address.protocol != "tcp" or not connections


def finished(
    ending: Ending, loads: Mapping[Address, Mapping[RealServer, int]]
) -> list[tuple[Address, RealServer]]:
    """Return which of those that end have ended, given the connections of each."""
    return [
        (address, real) for address, real in ending if may_go(address, loads.get(address, {}).get(real, 0))
    ]
