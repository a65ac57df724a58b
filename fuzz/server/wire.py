"""A TLS connection to the server over which many requests are sent before the first answer is read."""

from __future__ import annotations

import socket
from collections import deque

from bench.harness.shared_server import trusting
from fuzz.server.requests import Request

_TLS = trusting()
PATIENCE = 30.0


def connect(port: int, seconds: float = PATIENCE) -> socket.socket:
    """Return a new connection."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=seconds)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return _TLS.wrap_socket(plain)


class Pipeline:
    """One connection; after an error it is made anew, and what was under way counts as unanswered."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open()

    def _open(self) -> None:
        self._socket = connect(self._port)
        self._file = self._socket.makefile("rb")
        self._sent: deque[Request] = deque()

    def send(self, requests: list[Request]) -> None:
        """Send requests without waiting."""
        self._sent += requests
        self._socket.sendall(b"".join(request.data for request in requests))

    def answers(self) -> list[tuple[Request, int, bytes]]:
        """Return the answers to everything that was sent; 0 is the status of what was not answered."""
        answers: list[tuple[Request, int, bytes]] = []
        try:
            while self._sent:
                status, body, stays = self._answer(self._sent[0].method)
                answers.append((self._sent.popleft(), status, body))
                if not stays:
                    break
        except (OSError, ValueError) as error:
            if self._sent:
                answers.append((self._sent.popleft(), 0, str(error).encode()))
            self._sent.clear()
            self.close()
            self._open()
            return answers
        if self._sent:  # the server closed after an answer, which it may: the rest was not looked at
            self._sent.clear()
            self.close()
            self._open()
        return answers

    def _answer(self, method: str) -> tuple[int, bytes, bool]:
        line = self._file.readline(65536)
        if not line:
            raise OSError("closed without an answer")
        status, headers = int(line.split()[1]), {}
        while (line := self._file.readline(65536)) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if status == 100:
            return self._answer(method)
        stays = headers.get(b"connection", b"").lower() != b"close"
        if method == "HEAD" or status in (204, 304):
            return status, b"", stays
        if headers.get(b"transfer-encoding") == b"chunked":
            parts = []
            while size := int(self._file.readline(65536) or b"", 16):
                parts.append(self._file.read(size))
                self._file.readline()
            self._file.readline()
            return status, b"".join(parts), stays
        return status, self._file.read(int(headers.get(b"content-length", b"0"))), stays

    def close(self) -> None:
        """End the connection."""
        try:
            self._file.close()
            self._socket.close()
        except OSError:
            pass


def send_odd(port: int, data: bytes) -> list[int]:
    """Send bytes over a connection of their own; return the statuses of what is answered soon."""
    try:
        with connect(port, 0.3) as plain:
            plain.sendall(data)
            answer = b""
            while len(answer) < 1 << 20 and (piece := plain.recv(65536)):
                answer += piece
    except OSError:
        pass
    return (
        [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()]
        if "answer" in locals()
        else []
    )
