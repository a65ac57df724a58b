"""Sends prebuilt requests over many connections and takes the time of each answer.

The loop works on TLS sockets and epoll directly: an event loop's layers would cost more than a fast server
spends on the request. Responses are parsed only as far as needed to know their status and their end.
"""

import select
import ssl
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter, process_time

from bench.harness.connection import open_socket
from bench.harness.kubeconfig import Target

# A TLS record holds at most 16 KiB: a larger buffer empties OpenSSL at every read, so epoll misses nothing.
BUFFER_SIZE = 64 * 1024
MAXIMUM_RECONNECTS = 100


class LoadError(Exception):
    """The load could not be finished."""


@dataclass
class Load:
    """What one run of load did: answers' latencies in seconds, volume, and failures by status."""

    latencies: list[float] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    received: int = 0
    seconds: float = 0.0
    busy_seconds: float = 0.0
    last_failure: str = ""

    def describe_failures(self) -> str:
        """Say how many requests failed in which way, with the last answer of these; empty if none did."""
        if not self.failures:
            return ""
        counts = ", ".join(f"{count} × {status}" for status, count in self.failures.items())
        return f"failed: {counts}: {self.last_failure.strip()}"


class _Exchange:
    """The state of one connection: one request in flight, its answer partly read."""

    __slots__ = ("head", "received", "remaining", "sock", "started", "status", "tail")

    IN_HEAD = -1
    CHUNKED = -2

    def __init__(self, sock: ssl.SSLSocket) -> None:
        self.sock = sock
        self.begin(0.0)

    def begin(self, now: float) -> None:
        self.started = now
        self.status = b""
        self.remaining = self.IN_HEAD
        self.head = b""
        self.tail = b""
        self.received = 0

    def feed(self, view: memoryview) -> bool:
        """Take what was read and return whether the answer is complete."""
        size = len(view)
        self.received += size
        if self.remaining >= 0:
            self.remaining -= size
            return self.remaining <= 0
        if self.remaining == self.CHUNKED:
            # Within JSON there is no CR, so two line ends in a row are the end of the last chunk.
            self.tail = bytes(view[-4:]) if size >= 4 else (self.tail + bytes(view))[-4:]
            return self.tail == b"\r\n\r\n"
        self.head += bytes(view)
        end = self.head.find(b"\r\n\r\n")
        if end < 0:
            return False
        self.status = self.head[9:12]
        head = self.head[:end].lower()
        position = head.find(b"\ncontent-length:")
        if position >= 0:
            length = int(head[position + 16 :].split(b"\r\n", 1)[0])
            self.remaining = length - (len(self.head) - end - 4)
            return self.remaining <= 0
        if b"chunked" not in head:
            raise LoadError("the answer has neither a length nor chunks")
        self.remaining = self.CHUNKED
        self.tail = self.head[-4:]
        return len(self.head) > end + 4 and self.tail == b"\r\n\r\n"


def run_load(
    target: Target,
    connections: int,
    next_request: Callable[[], bytes | None],
    seconds: float | None = None,
    limit: float = 600,
) -> Load:
    """Keep every connection busy until the requests or the seconds run out; never longer than the limit."""
    load = Load()
    buffer = memoryview(bytearray(BUFFER_SIZE))
    poller = select.epoll()
    exchanges: dict[int, _Exchange] = {}
    for _ in range(connections):
        _open(target, poller, exchanges)
    reconnects = 0
    busy = process_time()
    begin = perf_counter()
    stop = begin + seconds if seconds is not None else float("inf")
    last = begin
    active = 0
    for exchange in exchanges.values():
        active += _send(exchange, next_request)
    try:
        while active:
            for number, _ in poller.poll(1.0):
                exchange = exchanges[number]
                try:
                    size = exchange.sock.recv_into(buffer)
                except ssl.SSLWantReadError:
                    continue
                except OSError:
                    size = 0
                if size == 0:
                    load.failures["connection closed"] += 1
                    reconnects += 1
                    if reconnects > MAXIMUM_RECONNECTS:
                        raise LoadError("the server keeps closing connections")
                    poller.unregister(number)
                    exchanges.pop(number).sock.close()
                    exchange = _open(target, poller, exchanges)
                elif not exchange.feed(buffer[:size]):
                    continue
                else:
                    last = perf_counter()
                    load.received += exchange.received
                    if exchange.status[:1] == b"2":
                        load.latencies.append(last - exchange.started)
                    else:
                        load.failures[exchange.status.decode()] += 1
                        load.last_failure = exchange.head.partition(b"\r\n\r\n")[2][:500].decode(
                            errors="replace"
                        )
                active -= 1
                if perf_counter() < stop:
                    active += _send(exchange, next_request)
            if perf_counter() - begin > limit:
                raise LoadError(f"gave up after {limit:.0f} seconds, {len(load.latencies)} answers")
    finally:
        for exchange in exchanges.values():
            exchange.sock.close()
        poller.close()
    load.seconds = last - begin
    load.busy_seconds = process_time() - busy
    return load


def _open(target: Target, poller: select.epoll, exchanges: dict[int, _Exchange]) -> _Exchange:
    sock = open_socket(target)
    sock.setblocking(False)
    exchange = _Exchange(sock)
    exchanges[sock.fileno()] = exchange
    poller.register(sock.fileno(), select.EPOLLIN)
    return exchange


def _send(exchange: _Exchange, next_request: Callable[[], bytes | None]) -> int:
    request = next_request()
    if request is None:
        return 0
    exchange.begin(perf_counter())
    sent = 0
    while sent < len(request):
        try:
            sent += exchange.sock.send(request[sent:] if sent else request)
        except ssl.SSLWantWriteError:
            select.select([], [exchange.sock], [], 5)
        except OSError:
            break  # the next read finds the connection closed and counts it
    return 1
