"""Picks targets in turn, and remembers which one a client had. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.lib.clock import Clock
from pybernetes.node.proxy.endpoint import Target

_MOST_CLIENTS = 10_000


class RoundRobin:
    """The targets of one ServicePort and traffic policy."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._targets: tuple[Target, ...] = ()
        self._affinity = 0
        self._next = 0
        self._clients: dict[str, tuple[Target, float]] = {}  # which target a client last had, and when

    def set(self, targets: Sequence[Target], affinity_seconds: int) -> None:
        """Replace the targets; clients of those that stay keep them."""
        self._targets, self._affinity = tuple(targets), affinity_seconds
        known = set(self._targets)
        if not affinity_seconds:
            self._clients.clear()
        self._clients = {client: last for client, last in self._clients.items() if last[0] in known}

    def __contains__(self, target: Target) -> bool:
        return target in self._targets

    def choices(self, client: str) -> list[Target]:
        """Return the targets for a client in the order in which they are to be tried."""
        count = len(self._targets)
        if not count:
            return []
        last = self._clients.get(client)
        if last is not None and self._clock.monotonic() - last[1] <= self._affinity:
            first = self._targets.index(last[0])
        else:
            first = self._next % count
            self._next = first + 1
        return [*self._targets[first:], *self._targets[:first]]

    def chosen(self, client: str, target: Target) -> None:
        """Note the target that a client got in the end."""
        if self._affinity:
            now = self._clock.monotonic()
            if len(self._clients) >= _MOST_CLIENTS:
                self._clients = {
                    known: last for known, last in self._clients.items() if now - last[1] <= self._affinity
                }
            self._clients[client] = (target, now)
