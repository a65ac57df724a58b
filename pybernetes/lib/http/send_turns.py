"""Large answers share the turns of the event loop: a few milliseconds of each, slice by slice in the order in which they came.

To encrypt a slice takes a fraction of a millisecond and to compress one some; but a hundred clients may ask at once, and what
the loop has ready it does before it looks who else has come.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Protocol

_TURN_SECONDS = 0.004


class Sender(Protocol):
    """A connection with an answer that is sent in slices."""

    def send_slice(self) -> bool:
        """Send the next slice; return whether another can follow at once."""


class SendTurns:
    """Those that have slices to send."""

    def __init__(self) -> None:
        self._waiting: deque[Sender] = deque()
        self._scheduled = False

    def ask(self, sender: Sender) -> None:
        """Send slices for a connection: at once, if nobody else has in this turn, and in later turns."""
        self._waiting.append(sender)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turn)
            self._send()

    def _take_turn(self) -> None:
        self._scheduled = bool(self._waiting)
        if self._scheduled:
            asyncio.get_running_loop().call_soon(self._take_turn)
            self._send()

    def _send(self) -> None:
        since, waiting = time.monotonic(), self._waiting
        while waiting:
            sender = waiting.popleft()
            if sender.send_slice():
                waiting.append(sender)
            if time.monotonic() - since > _TURN_SECONDS:
                return
