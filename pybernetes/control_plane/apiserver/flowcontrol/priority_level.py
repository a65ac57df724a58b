"""Priority levels: how many requests of each may be at work at once, and what becomes of the others.

A request takes a seat from its start to its answer. Besides, a level may use the processor for a slice of time
before its requests wait for a turn of the event loop, so that others come in between: most requests are answered
within one call and would never fill the seats.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.flowcontrol.fair_queues import FairQueues, Queue
from pybernetes.lib.flags import Flag
from pybernetes.lib.metrics.histogram import Histogram

FLAGS = (
    Flag("enable-priority-and-fairness", True, "give requests turns by priority levels and flows"),
    Flag("max-requests-inflight", 400, "seats for reading requests, which levels share with the others"),
    Flag("max-mutating-requests-inflight", 200, "seats for writing requests"),
)
SLICE_SECONDS = 0.005
WINDOW_SECONDS = 0.02
WAIT_SECONDS = 15.0
WAIT_BOUNDS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
_LEARNING = 0.2  # how much the last request counts in what a request is expected to cost


class Rejected(Exception):
    """There is no room for a request; the text is the reason that metrics give."""


@dataclass(eq=False, slots=True)
class Ticket:
    """A request that is at work, or waits to be."""

    level: PriorityLevel
    schema: str
    waiter: asyncio.Future[None] | None = None
    queue: Queue[Ticket] | None = None
    timer: asyncio.TimerHandle | None = None
    charged: float = 0.0  # what its queue was charged with when it started
    given_back: bool = False


@dataclass(eq=False)
class PriorityLevel:
    """One priority level."""

    name: str
    uid: str
    exempt: bool = False
    shares: int = 0
    lendable_percent: int = 0
    borrowing_percent: int | None = None
    queuing: tuple[int, int, int] | None = None  # queues, hand, length
    nominal: int = 0
    executing: int = 0
    queues: FairQueues[Ticket] | None = None
    dispatched: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    # How long requests waited that did, by schema and by whether they started in the end.
    waits: dict[tuple[str, bool], Histogram] = field(default_factory=dict)
    _window: float = 0.0
    _used: float = 0.0
    _cost: float = 0.001  # what a request is expected to cost
    _draining: bool = False
    _answering: dict[Ticket, None] = field(default_factory=dict)
    others: list[PriorityLevel] = field(default_factory=list)

    def waited(self, schema: str, seconds: float, started: bool) -> None:
        """Note how long a request waited."""
        waits = self.waits.get((schema, started))
        if waits is None:
            waits = self.waits[schema, started] = Histogram(WAIT_BOUNDS)
        waits.observe(seconds)

    def executing_of(self, schema: str) -> int:
        """Return how many requests of a schema are at work."""
        return self.dispatched[schema] - self.finished[schema]

    def waiting(self) -> Counter[str]:
        """Return how many requests of each schema wait."""
        return Counter(ticket.schema for ticket in self.queues.items()) if self.queues else Counter()

    # -- deciding ----------------------------------------------------------------------------------------

    def has_seat(self) -> bool:
        """Return whether one more may start: on a seat of the level, or on one that others lend."""
        if self.executing < self.nominal:
            return True
        borrowed = self.executing - self.nominal
        if self.borrowing_percent is not None and borrowed >= self.nominal * self.borrowing_percent // 100:
            return False
        free = sum(
            min(level.nominal * level.lendable_percent // 100, max(0, level.nominal - level.executing))
            for level in self.others
        )
        taken = sum(max(0, level.executing - level.nominal) for level in (self, *self.others))
        return taken < free

    def is_spent(self, now: float) -> bool:
        """Return whether the level has used up its slice of the processor for the moment."""
        if now - self._window > WINDOW_SECONDS:
            self._window, self._used = now, 0.0
        return self._used > SLICE_SECONDS

    # -- requests ----------------------------------------------------------------------------------------

    def arrive(self, schema: str, flow: str, now: float) -> Ticket:
        """Let a request start, or wait on the ticket's waiter; Rejected if there is no room."""
        ticket = Ticket(self, schema)
        queues = self.queues
        if self.has_seat() and (queues is None or not (queues.waiting or self.is_spent(now))):
            self._start(ticket)
            return ticket
        if queues is None:
            self.rejected[schema, "concurrency-limit"] += 1
            raise Rejected("concurrency-limit")
        ticket.queue = queues.put(f"{schema}/{flow}", ticket)
        if ticket.queue is None:
            self.rejected[schema, "queue-full"] += 1
            raise Rejected("queue-full")
        loop = asyncio.get_running_loop()
        ticket.waiter = loop.create_future()
        ticket.timer = loop.call_later(WAIT_SECONDS, self._give_up, ticket)
        self._drain_soon()
        return ticket

    def _start(self, ticket: Ticket) -> None:
        self.executing += 1
        self.dispatched[ticket.schema] += 1

    def finish(self, ticket: Ticket, seconds: float, *, at_once: bool) -> None:
        """Give the seat back. ``at_once`` says that the whole time was spent on the processor."""
        if ticket.given_back:
            return
        ticket.given_back = True
        self._answering.pop(ticket, None)
        self.executing -= 1
        self.finished[ticket.schema] += 1
        self._cost += (seconds - self._cost) * _LEARNING
        if at_once:
            self._used += seconds
        if ticket.queue is not None:
            ticket.queue.had += seconds - ticket.charged
        if self.queues is not None and self.queues.waiting:
            self._drain_soon()

    def answering(self, ticket: Ticket) -> None:
        """Note that a request holds its seat only because its client has not taken the answer.

        Such requests have half of the level's seats at the most, the latest ones: who does not read stops nobody else.
        """
        self._answering[ticket] = None
        if len(self._answering) > max(1, self.nominal // 2):
            self.finish(next(iter(self._answering)), 0.0, at_once=False)

    def abandon(self, ticket: Ticket) -> None:
        """Forget a request whose client went away while it waited; one that had started gives its seat back."""
        if ticket.timer is not None:
            ticket.timer.cancel()
        if ticket.queue is not None and self.queues is not None and self.queues.drop(ticket.queue, ticket):
            return
        self.finish(ticket, 0.0, at_once=False)

    def _give_up(self, ticket: Ticket) -> None:
        assert ticket.queue is not None and self.queues is not None and ticket.waiter is not None
        if self.queues.drop(ticket.queue, ticket) and not ticket.waiter.done():
            self.rejected[ticket.schema, "time-out"] += 1
            ticket.waiter.set_exception(Rejected("time-out"))

    # -- turns -------------------------------------------------------------------------------------------

    def _drain_soon(self) -> None:
        if not self._draining:
            self._draining = True
            asyncio.get_running_loop().call_soon(self._drain)

    def _drain(self) -> None:
        """Start those whose turn it is, a slice at a time; what came in meanwhile is read in between."""
        self._draining = False
        queues, charged = self.queues, 0.0
        self._used = 0.0
        while queues is not None and queues.waiting and self.has_seat():
            if charged > SLICE_SECONDS:
                self._drain_soon()
                return
            ticket, queue = queues.take()
            ticket.charged = self._cost
            queue.had += self._cost
            charged += self._cost
            assert ticket.waiter is not None and ticket.timer is not None
            ticket.timer.cancel()
            self._start(ticket)
            if ticket.waiter.done():  # its client has gone
                self.finish(ticket, 0.0, at_once=False)
            else:
                ticket.waiter.set_result(None)


def from_object(obj: Object) -> PriorityLevel:
    """Return a level from its object."""
    meta, spec = obj["metadata"], obj["spec"]
    exempt = spec["type"] == "Exempt"
    said: dict[str, Any] = spec.get("exempt" if exempt else "limited") or {}
    level = PriorityLevel(meta["name"], meta["uid"], exempt)
    level.shares = said.get("nominalConcurrencyShares", 0 if exempt else 30)
    level.lendable_percent = said.get("lendablePercent", 0)
    level.borrowing_percent = said.get("borrowingLimitPercent")
    queuing = said.get("limitResponse", {}).get("queuing")
    if queuing:
        level.queuing = (queuing["queues"], queuing["handSize"], queuing["queueLengthLimit"])
        level.queues = FairQueues(*level.queuing)
    return level


def share_out(levels: Iterable[PriorityLevel], seats: int) -> None:
    """Give each level its part of the server's seats, and tell it whom it may borrow from."""
    listed = list(levels)
    total = sum(level.shares for level in listed) or 1
    for level in listed:
        level.nominal = math.ceil(seats * level.shares / total)
        level.others = [other for other in listed if other is not level]
