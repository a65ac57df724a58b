"""Has the kernel notice a peer that is gone without a word, which a long answer would wait for forever."""

from __future__ import annotations

import socket

# When a peer that is silent counts as gone: seconds, but for the last, which has milliseconds.
GONE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 60000}


def keep_alive(sock: socket.socket | None) -> None:
    """Have the kernel ask the peer of a connection now and then whether it is there, if it is one of TCP."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in GONE.items():
        if hasattr(socket, option):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
