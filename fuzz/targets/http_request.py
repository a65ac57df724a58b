"""Requests as bytes: cut into pieces in any way, they are read the same, or refused the same."""

from __future__ import annotations

from typing import Any

from fuzz.engine.target import Target
from pybernetes.lib.http.limits import Limits
from pybernetes.lib.http.messages import Request
from pybernetes.lib.http.request_parser import RequestParser
from pybernetes.lib.http.server import Server


class _Wire:
    """Takes what is written, as a transport would."""

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


class _Reader(RequestParser):
    """Notes the requests of a connection."""

    def __init__(self) -> None:
        super().__init__(Server(lambda request: None, limits=Limits(headers=50, body=16384)))  # type: ignore[arg-type, return-value]
        self.transport = _Wire()  # type: ignore[assignment]
        self.requests: list[Any] = []
        self._begin()

    def received(self, request: Request) -> None:
        if request.keep_alive is False:
            self._closing = True  # what follows is not looked at
        lengths = [value for name, value in request.headers.items() if name == b"content-length"]
        assert len(lengths) < 2, "two lengths"
        self.requests.append(
            (request.method, request.path, request.query_text, request.headers, request.body)
        )
        _ = request.query

    def refuse(self, status: int, message: str) -> None:
        if not self._closing:
            self._closing = True
            self.requests.append(status)


def _read(pieces: list[bytes]) -> list[Any]:
    reader = _Reader()
    for piece in pieces:
        reader.data_received(piece)
    reader._let_go()
    return reader.requests


def run(data: bytes) -> None:
    """Read the bytes at once, and in three ways of cutting them."""
    whole = _read([data])
    half = len(data) // 2
    small = max(1, len(data) // 50)
    for pieces in (
        [data[:half], data[half:]],
        [data[at : at + small] for at in range(0, len(data), small)],
    ):
        cut = _read(pieces)
        # How far a message that is refused was understood may differ: what was accepted may not.
        accepted = [request for request in cut if not isinstance(request, int)]
        expected = [request for request in whole if not isinstance(request, int)]
        assert accepted == expected, (whole, cut)


_GET = b"GET /api/v1/namespaces/default/pods?limit=5&labelSelector=a%3Db HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n"
_POST = b"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
_CHUNKED = (
    b"POST /api HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n"
    b"2;ext=1\r\n{}\r\n0\r\nX-A: b\r\n\r\n"
)
_UPGRADE = (
    b"GET /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x81\x80abcd"
)
TARGET = Target(
    run,
    seeds=(_GET, _GET * 3, _POST + _GET, _CHUNKED + _GET, _UPGRADE, _POST.replace(b"Host", b"Expect: 100-continue\r\nHost")),
    words=(
        b"GET", b"POST", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"\r\n", b"\n", b"\r", b"Host: y\r\n", b": ",
        b"Content-Length: 5\r\n", b"Content-Length", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n",
        b"Connection: close\r\n", b"Connection: Upgrade\r\n", b"0\r\n\r\n", b"%00", b"%2f", b"?", b"&a=b", b" ", b"\t", b"\0",
    ),
    per_byte=50e-6,
)  # fmt: skip
