"""What the controllers of a process share."""

from __future__ import annotations

import asyncio

from pybernetes.client.client import Client
from pybernetes.lib.clock import Clock
from pybernetes.runtime.events import Recorder, Sender
from pybernetes.runtime.informers import Informers
from pybernetes.runtime.metrics import Metrics

# How long workers that never have to wait may keep the event loop to themselves, all together.
_TURN_SECONDS = 0.005


class Runtime:
    """What controllers are given: the client, the informers that they share, the time, and where they count."""

    def __init__(
        self,
        client: Client,
        *,
        informers: Informers | None = None,
        clock: Clock | None = None,
        metrics: Metrics | None = None,
        events: Sender | None = None,
    ) -> None:
        self.client = client
        self.clock = clock or Clock()
        self.informers = informers or Informers(client, clock=self.clock)
        self.metrics = metrics or Metrics(self.clock)
        self.events = events or Sender(client, self.clock)
        self.turn = Turn()
        self._derived: list[Runtime] = []

    def recorder(self, component: str, host: str = "") -> Recorder:
        """Return a recorder of events in the name of a component."""
        return Recorder(
            self.client,
            component,
            host=host,
            clock=self.clock,
            sender=self.events,
            is_gone=self.informers.is_gone,
        )

    def as_client(self, client: Client) -> Runtime:
        """Return the same runtime with another client for writing, such as one with a controller's own identity."""
        derived = Runtime(client, informers=self.informers, clock=self.clock, metrics=self.metrics)
        derived.turn = self.turn
        self._derived.append(derived)
        return derived

    async def close(self) -> None:
        """Write the waiting events, within a moment."""
        await asyncio.gather(self.events.close(), *(runtime.close() for runtime in self._derived))


class Turn:
    """One turn of the event loop, as far as controllers use it."""

    __slots__ = ("_ends", "_open")

    def __init__(self) -> None:
        self._open = False
        self._ends = 0.0

    def is_over(self, now: float) -> bool:
        """Return whether workers have had their share of this turn."""
        if self._open:
            return now > self._ends
        self._open = True
        self._ends = now + _TURN_SECONDS
        asyncio.get_running_loop().call_soon(self._close)  # comes first in the next turn
        return False

    def _close(self) -> None:
        self._open = False
