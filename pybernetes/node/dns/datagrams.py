"""A UDP socket of kube-dns. As long as it can be read empty, questions are answered as they come.

When more have arrived than are answered at a time, all of them are read, since what does not fit into the kernel's buffer is
lost whoever sent it, and clients take turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

from pybernetes.node.dns.elsewhere import Elsewhere
from pybernetes.node.dns.fair_queue import FairQueue
from pybernetes.node.dns.resolver import Resolver

log = logging.getLogger(__name__)
Sender: TypeAlias = tuple[Any, ...]
_AT_A_TIME = 128  # questions until others get a turn
_READ = 1024  # the same, of those that are only read
_BUFFER = 4 << 20
_FORCE = 33  # SO_RCVBUFFORCE: beyond what the machine gives to everybody, if we may
_LARGEST = 4096
_MOST_BYTES = 2 << 20
_WAITING_BYTES = 300  # what a question takes that waits, beside its message


class Datagrams:
    """Answers what arrives at one socket."""

    def __init__(self, opened: socket.socket, resolver: Resolver, elsewhere: Elsewhere) -> None:
        self._socket, self._resolver, self._elsewhere = opened, resolver, elsewhere
        metrics = resolver.metrics
        self._turns: FairQueue[tuple[bytes, Sender]] = FairQueue(
            _MOST_BYTES, lambda question: metrics.count("kubedns_dropped_total")
        )
        self._family = "1" if opened.family == socket.AF_INET else "2"
        self._handle: asyncio.Handle | None = None

    def start(self) -> None:
        """Hear questions."""
        for option in (socket.SO_RCVBUF, _FORCE):
            with contextlib.suppress(PermissionError):
                self._socket.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._read)

    def close(self) -> None:
        """Hear nothing any more."""
        asyncio.get_running_loop().remove_reader(self._socket.fileno())
        if self._handle is not None:
            self._handle.cancel()
        self._socket.close()

    def _send(self, to: Sender, message: bytes) -> None:
        if message:
            self._socket.sendto(message, to)

    def _read(self) -> None:
        """Answer what has arrived, or have it wait."""
        if not self._turns and not self._answer():
            return
        receive, put = self._socket.recvfrom, self._turns.put
        try:
            for _ in range(_READ):
                data, sender = receive(_LARGEST)
                put(sender[0], (data, sender), _WAITING_BYTES + len(data))
        except BlockingIOError:
            pass  # all of it is read
        except OSError as error:
            log.debug("a datagram failed: %s", error)
        self._wake()

    def _wake(self) -> None:
        if self._turns and self._handle is None:
            self._handle = asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        """Answer some of those that wait, in turns."""
        self._handle = None
        self._answer(waiting=True)
        self._wake()

    def _answer(self, *, waiting: bool = False) -> bool:
        """Answer some questions as they come, or of those that wait; return whether there may be more."""
        respond, receive, send = self._resolver.respond, self._socket.recvfrom, self._socket.sendto
        metrics, count, answered, before = self._resolver.metrics, 0, 0, perf_counter()
        try:
            while count < _AT_A_TIME:
                if waiting:
                    question = self._turns.take()
                    if question is None:
                        break
                    data, sender = question
                else:
                    data, sender = receive(_LARGEST)
                count += 1
                try:
                    response = respond(data, True, sender)
                except Exception:
                    metrics.panics += 1
                    log.exception("a question could not be answered: %r", data)
                    continue
                if isinstance(response, bytes):
                    send(response, sender)
                    answered += 1
                elif response is not None:
                    self._elsewhere.add(response, len(data), sender[0], partial(self._send, sender))
        except BlockingIOError:
            pass  # nothing left to read, or no room to send: UDP may lose packets
        except OSError as error:  # somebody who asked is not there any more
            log.debug("a datagram failed: %s", error)
        if answered:  # each of those took the same: a look at the clock for each would cost more than they do
            metrics.durations.observe((perf_counter() - before) / count, answered)
        key = ("udp", self._family)
        metrics.protocols[key] = metrics.protocols.get(key, 0) + count
        return count == _AT_A_TIME
