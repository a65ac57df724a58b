"""Sixty clients that ask for large lists and read nothing of them."""

from __future__ import annotations

import socket

from tests.attacks._target import ADMIN, Attack, Target, trusting, until

_CLIENTS, _SECONDS = 60, 8.0
_MOST = 400.0  # megabytes that the server may take for them
_SECRETS, _SIZE = 40, 700_000


def _unread(target: Target) -> str:
    request = f"GET /api/v1/secrets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {ADMIN}\r\n\r\n".encode()
    with target.api_server(target.folder / "unread") as server:
        for number in range(_SECRETS):
            secret = {
                "metadata": {"name": f"large-{number}"},
                "stringData": {"a": f"{number:x}" * (_SIZE // len(f"{number:x}"))},
            }
            status, text = server.call("POST", "/api/v1/namespaces/default/secrets", secret)
            assert status == 201, text
        before, most, opened = server.megabytes, 0.0, []
        for _ in range(_CLIENTS):
            plain = socket.socket()
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            plain.settimeout(60)
            plain.connect(("127.0.0.1", server.port))
            opened.append(trusting().wrap_socket(plain))
        for connection in opened:
            connection.sendall(request)

        def too_much() -> bool:
            nonlocal most
            most = max(most, server.megabytes - before)
            return most > _MOST

        until(too_much, _SECONDS)
        for connection in opened:
            connection.close()
    return f"{_CLIENTS} clients cost {most:.0f} MB" if most > _MOST else ""


ATTACKS: dict[str, Attack] = {"8 lists that nobody reads": _unread}
