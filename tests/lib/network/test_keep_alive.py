"""Which sockets the kernel watches over; what it does for them is in tests/lib/http/test_half_open.py."""

from __future__ import annotations

import socket

from pybernetes.lib.network.keep_alive import keep_alive


def test_only_connections_of_tcp_are_asked_for() -> None:
    keep_alive(None)
    for end in socket.socketpair():
        keep_alive(end)
        assert not end.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        end.close()
    with socket.socket(socket.AF_INET) as made:
        keep_alive(made)
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
