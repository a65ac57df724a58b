"""How much of a client is put up with: sizes in bytes, times in seconds."""

from __future__ import annotations

import socket
from dataclasses import dataclass, replace

# What a connection takes, with TLS and what it has not sent yet; a quarter of all memory may be connections.
_CONNECTION_BYTES = 4 * 64 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What a client may send and how long it may take; body, head and the first two times are upstream's."""

    body: int = 3 * 1024 * 1024
    # All that is not body: the request line, headers, trailers, the sizes and extensions of chunks.
    head: int = 1024 * 1024
    # Of these the request target and each header's value; upstream has no limits of their own for them.
    target: int = 64 * 1024
    value: int = 64 * 1024
    # How many headers there may be; a front proxy sends one for each group of a user.
    headers: int = 1000
    # How many query parameters; upstream takes ten times as many.
    parameters: int = 1000
    # From the first byte of a request to the end of its headers, and to its own end.
    head_seconds: float = 32.0
    receive_seconds: float = 60.0
    # Between two requests; a client that has sent none yet has ``head_seconds``.
    idle_seconds: float = 90.0
    # Connections at a time. For one more, an idle one goes; if there is none, the new one does.
    connections: int = 10_000
    # How long a client that takes nothing of what it is sent, or is silently gone, is kept.
    stall_seconds: float = 60.0
    # How long a refused client is listened to, so that it finds the answer before the connection's end.
    linger_seconds: float = 2.0
    # A watcher that is this far behind is cut off: it would otherwise fill the memory.
    backlog: int = 8 * 1024 * 1024
    # How long an answer that is not a stream may be on its way to a client.
    answer_seconds: float = 60.0
    # How much of such answers may wait for all clients together, and for those of one owner.
    unread: int = 256 * 1024 * 1024
    unread_of_one: int = 64 * 1024 * 1024
    # How much of requests that are not answered yet all clients together may have sent.
    unanswered: int = 128 * 1024 * 1024
    # Requests that wait on one connection for the one before them.
    pipeline: int = 16

    def within(self, room: int) -> Limits:
        """Return limits with which clients, however many and bad, can take no more than about half of some memory."""
        return replace(
            self,
            connections=min(self.connections, room // _CONNECTION_BYTES),
            backlog=min(self.backlog, room // 64),
            unread=min(self.unread, room // 8),
            unread_of_one=min(self.unread_of_one, room // 16),
            unanswered=min(self.unanswered, max(room // 8, 2 * self.body)),
        )


def listen(host: str, port: int, limits: Limits) -> socket.socket:
    """Return a listening socket whose connections the kernel ends when their clients are gone or take nothing."""
    both = host == "::" and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=1024, dualstack_ipv6=both)
    stall = limits.stall_seconds
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # What is set here, the accepted sockets inherit. Not every system has these.
    for name, value in (
        ("TCP_KEEPIDLE", max(1, int(stall / 2))),
        ("TCP_KEEPINTVL", max(1, int(stall / 8))),
        ("TCP_KEEPCNT", 4),
        ("TCP_USER_TIMEOUT", int(stall * 1000)),
    ):
        option = getattr(socket, name, None)
        if option is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)
    return listener
