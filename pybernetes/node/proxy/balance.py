"""Picks targets one after the other, and remembers which one a client had. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.service_port import Target

_MOST_CLIENTS = 10_000


class Balancer:
    """The targets of one portal and policy."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._targets: tuple[Target, ...] = ()
        self._affinity = 0
        self._next = 0
        self._clients: dict[str, tuple[Target, float]] = {}

    def set(self, targets: Sequence[Target], affinity_seconds: int) -> None:
        """Has other targets from now on; clients of those that stay keep them."""
        self._targets, self._affinity = tuple(targets), affinity_seconds
        held = set(self._targets)
        if not affinity_seconds:
            self._clients.clear()
        self._clients = {client: each for client, each in self._clients.items() if each[0] in held}

    def __contains__(self, target: Target) -> bool:
        return target in self._targets

    def choices(self, client: str) -> list[Target]:
        """The targets for a client in the order in which they are to be tried."""
        count = len(self._targets)
        if not count:
            return []
        found = self._clients.get(client)
        if found is not None and self._clock.monotonic() - found[1] <= self._affinity:
            first = self._targets.index(found[0])
        else:
            first = self._next % count
            self._next = first + 1
        return [*self._targets[first:], *self._targets[:first]]

    def chosen(self, client: str, target: Target) -> None:
        """Takes note of the target that a client got in the end."""
        if self._affinity:
            now = self._clock.monotonic()
            if len(self._clients) >= _MOST_CLIENTS:
                self._clients = {
                    key: each for key, each in self._clients.items() if now - each[1] <= self._affinity
                }
            self._clients[client] = (target, now)
