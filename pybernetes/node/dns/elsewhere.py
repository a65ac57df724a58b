"""Questions that others have to be asked about: so many at once, and clients take turns.

What is asked elsewhere costs fifty times what the cluster's own names do. So a few begin at a time, and those that have
arrived meanwhile are heard and answered before the next few.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from time import perf_counter
from typing import NamedTuple

from pybernetes.node.dns.fair_queue import FairQueue
from pybernetes.node.dns.metrics import Metrics

log = logging.getLogger(__name__)
_AT_ONCE = 800  # fewer than the plugins cache and forward refuse: whoever must wait waits here, where clients take turns
_OF_ONE_CLIENT = 250
_BEGIN = 16  # until others get a turn
_MOST_BYTES = 4 << 20
_WAITING_BYTES = 1500  # what a question takes that waits, beside its message
_PATIENCE = 5.0  # seconds after which clients ask again, and want no answer to what they asked before


class _Waiting(NamedTuple):
    response: Awaitable[bytes]
    client: str
    send: Callable[[bytes], object]
    since: float


class Elsewhere:
    """Begins what waits, in turns."""

    def __init__(self, metrics: Metrics, soon: Callable[[Coroutine[None, None, None]], None]) -> None:
        self._metrics, self._soon = metrics, soon
        self._turns: FairQueue[_Waiting] = FairQueue(_MOST_BYTES, self._drop)
        self._running: Counter[str] = Counter()
        self._handle: asyncio.Handle | None = None

    def add(
        self, response: Awaitable[bytes], length: int, client: str, send: Callable[[bytes], object]
    ) -> None:
        """Queue a question until its turn comes; ``send`` gets the answer, or nothing if there is to be none."""
        waiting = _Waiting(response, client, send, perf_counter())
        self._turns.put(client, waiting, _WAITING_BYTES + length)
        self._wake()

    def _wake(self) -> None:
        if self._handle is None and self._turns and self._running.total() < _AT_ONCE:
            self._handle = asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._handle = None
        late = perf_counter() - _PATIENCE
        for _ in range(min(_BEGIN, _AT_ONCE - self._running.total())):
            waiting = self._turns.take(self._may)
            while waiting is not None and waiting.since < late:
                self._drop(waiting)
                waiting = self._turns.take(self._may)
            if waiting is None:
                return  # whoever waits has enough under way
            self._running[waiting.client] += 1
            self._soon(self._answer(waiting))
        self._wake()

    async def _answer(self, waiting: _Waiting) -> None:
        message = b""
        try:
            message = await waiting.response
        except Exception:
            self._metrics.panics += 1
            log.exception("a question could not be answered")
        finally:
            self._ended(waiting.client)
        self._metrics.took(perf_counter() - waiting.since)
        try:
            waiting.send(message)  # which is empty if plugins want nobody answered
        except OSError as error:
            log.debug("an answer could not be sent: %s", error)

    def _may(self, client: str) -> bool:
        return self._running[client] < _OF_ONE_CLIENT

    def _ended(self, client: str) -> None:
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        self._wake()

    def _drop(self, waiting: _Waiting) -> None:
        self._metrics.count("kubedns_dropped_total")
        if inspect.iscoroutine(waiting.response):
            waiting.response.close()
        waiting.send(b"")

    def close(self) -> None:
        """Forget what waits."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        self._turns.clear()
