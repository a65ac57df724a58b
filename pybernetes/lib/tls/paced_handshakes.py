"""TLS handshakes share the turns of the event loop: some milliseconds of each, in the order in which they came.

A handshake costs a signature, a fraction of a millisecond; but hundreds of clients may connect at once, and event loops shake
hands with all whose words have come before anybody else has a turn. Loops do not say which connection a TLS object is for, and have no
way to be told to try again. So the protocol that lies between a connection and its application is made here: it is the loop's
own, and tells its TLS object what to call when its turn has come.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

_TURN_SECONDS = 0.004


class HandshakeTurns:
    """The turns of the loop that runs, as handshakes share them."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._spent, self._since = 0.0, 0.0
        self._waiting: deque[Callable[[], object]] = deque()

    def begin(self) -> bool:
        """Tell whether there is time for a handshake in this turn, which ends with ``end``; ``wait`` otherwise."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._spent = loop, 0.0
            self._waiting.clear()
            loop.call_soon(self._next)
        self._since = time.monotonic()
        return self._spent <= _TURN_SECONDS

    def end(self) -> None:
        """Count the time of a handshake."""
        self._spent += time.monotonic() - self._since

    def wait(self, go_on: Callable[[], object]) -> None:
        """Have something called when there is time."""
        self._waiting.append(go_on)

    @property
    def is_crowded(self) -> bool:
        """Whether others wait, who came before."""
        return bool(self._waiting)

    def _next(self) -> None:
        """Give out the next turn; rest when there was no handshake in this one."""
        if self._loop is None or not (self._spent or self._waiting):
            self._loop = None
            return
        self._spent = 0.0
        while self._waiting and self._spent <= _TURN_SECONDS:
            self._waiting.popleft()()
        self._loop.call_soon(self._next)


turns = HandshakeTurns()
# What goes on with the handshake of the connection whose TLS object is being made.
making: Callable[[], object] | None = None


class _Paced:
    """What is added to the loop's own protocol between a connection and an application."""

    # Some loops make the TLS object here, others later.
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with _making(self):
            super().__init__(*args, **kwargs)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        with _making(self):
            super().connection_made(transport)  # type: ignore[misc]


@contextmanager
def _making(paced: _Paced) -> Iterator[None]:
    """Tell TLS objects that are made meanwhile what goes on with their handshakes."""
    global making
    mine = weakref.ref(paced)  # they would know one another for ever

    def go_on() -> None:
        protocol: Any = mine()
        if protocol is not None:
            protocol.buffer_updated(0)  # as if more had come: nothing has

    making = go_on
    try:
        yield
    finally:
        making = None


@cache
def _kind(module: str) -> Any:
    name = "uvloop.loop" if module.startswith("uvloop") else "asyncio.sslproto"
    return type("PacedProtocol", (_Paced, import_module(name).SSLProtocol), {})


def secured(
    context: ssl.SSLContext, seconds: float, protocol: Callable[[], asyncio.BaseProtocol]
) -> Callable[[], asyncio.BaseProtocol]:
    """Return what makes protocols that speak TLS to a client, and what it says to those of an application."""
    loop = asyncio.get_running_loop()
    kind = _kind(type(loop).__module__)
    return lambda: kind(loop, protocol(), context, None, server_side=True, ssl_handshake_timeout=seconds)
