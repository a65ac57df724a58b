"""What kubectl makes of a server that answers as an attacker would."""

from __future__ import annotations

import socket
import threading
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.kubectl.connection.http import Connection
from pybernetes.tools.kubectl.errors import CommandError, NoConnection
from pybernetes.tools.kubectl.kubeconfig.access import Access
from tests.doubling import MOST_GROWTH, Input, growth

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@contextmanager
def server(answer: Callable[[], Iterable[bytes]]) -> Iterator[Connection]:
    """Yield a connection to a server that answers every request so, and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.recv(65536)
                for piece in answer():
                    connection.sendall(piece)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    connection = Connection(Access(f"http://127.0.0.1:{listener.getsockname()[1]}"), 60)
    try:
        yield connection
    finally:
        connection.close()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


def body(*pieces: bytes) -> bytes:
    with server(lambda: pieces) as connection:
        return connection.send("GET", "/", {}, None).read()


def test_bodies() -> None:
    assert body(OK + b"Content-Length: 2\r\n\r\nok") == b"ok"
    assert body(CHUNKED + b"1\r\no\r\n1;x=y\r\nk\r\n0\r\nTrailer: x\r\n\r\n") == b"ok"
    assert body(OK + b"\r\nok") == b"ok"


BROKEN = {
    "no status": b"HTTP/1.1\r\n\r\n",
    "a status that is none": b"HTTP/1.1 abc OK\r\n\r\n",
    "another protocol": b"SSH-2.0 200 x\r\n\r\n",
    "a negative length": OK + b"Content-Length: -5\r\n\r\nx",
    "a length that is none": OK + b"Content-Length: 1_0\r\n\r\nx",
    "a length that is not reached": OK + b"Content-Length: 10\r\n\r\nx",
    "a negative chunk": CHUNKED + b"-5\r\nx",
    "a chunk of no size": CHUNKED + b"\r\nx",
    "a chunk with a prefix": CHUNKED + b"0x5\r\nx",
    "a chunk that is not reached": CHUNKED + b"5\r\nx",
    "a very large chunk": CHUNKED + b"f" * 40 + b"\r\nx",
    "chunks without an end": CHUNKED + b"1\r\nx\r\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_answers(name: str) -> None:
    with pytest.raises((CommandError, EOFError)):
        body(BROKEN[name])


@pytest.mark.parametrize("begin", [OK, CHUNKED, CHUNKED + b"0\r\n"])
def test_what_has_no_end_is_not_kept(begin: bytes) -> None:
    """Heads, chunk sizes and trailers."""

    def endless() -> Iterator[bytes]:
        yield begin
        for _ in range(1000):
            yield b"x" * 65536

    with server(endless) as connection, pytest.raises(NoConnection, match="exceeded 1048576 bytes"):
        connection.send("GET", "/", {}, None).read()


def test_large_chunks_are_not_held_in_memory() -> None:
    def large() -> Iterator[bytes]:
        yield CHUNKED + b"%x\r\n" % (32 << 20)
        for _ in range(512):
            yield bytes(65536)
        yield b"\r\n0\r\n\r\n"

    with server(large) as connection:
        tracemalloc.start()
        try:
            response = connection.send("GET", "/", {}, None)
            assert sum(map(len, response.pieces())) == 32 << 20
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()


@given(st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"x", b"\n"))))
def test_lines(pieces: list[bytes]) -> None:
    class Response:
        """A body in pieces."""

        def pieces(self) -> Iterable[bytes]:
            return pieces

    from pybernetes.tools.kubectl.connection import http

    whole = b"".join(pieces).split(b"\n")
    assert list(http.Response.lines(Response())) == whole[:-1] + ([whole[-1]] if whole[-1] else [])  # type: ignore[arg-type]


def test_a_line_without_end_takes_time_that_grows_with_it() -> None:
    from pybernetes.tools.kubectl.connection import http

    class Response:
        """A body without a line's end."""

        def __init__(self, count: int) -> None:
            self._count = count

        def pieces(self) -> Iterable[bytes]:
            return (b"x" * 1000 for _ in range(self._count))

    def take(count: int) -> None:
        list(http.Response.lines(Response(count)))  # type: ignore[arg-type]

    endless = Input("a line without end", lambda count: count, take, start=1000, largest=1 << 16)
    assert growth(endless) <= MOST_GROWTH


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"Authorization": "Bearer a\r\nX-Other: b"}),
        ("/", {"Impersonate-Group": ["a", "b\nc"]}),
        ("/", {"Authorization": "Bearer a\x00"}),
        ("/a HTTP/1.1\r\nX-Other: b\r\n\r\nDELETE /b", {}),
        ("/a b", {}),
    ],
)
def test_nothing_that_is_given_becomes_another_header(path: str, headers: dict[str, Any]) -> None:
    asked: list[int] = []
    with server(lambda: asked.append(1) or [OK + b"Content-Length: 0\r\n\r\n"]) as connection:  # type: ignore[func-returns-value]
        with pytest.raises(NoConnection, match="invalid"):
            connection.send("GET", path, headers, None)
        assert connection.send("GET", "/", {"X": "ä\tb"}, None).status == 200
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("address", "reason"),
    [("ftp://127.0.0.1", 'unsupported protocol scheme "ftp"'), ("http://127.0.0.1:99999", "dial tcp: address 99999: invalid port")],
)  # fmt: skip
def test_servers_that_cannot_be_asked(address: str, reason: str) -> None:
    with pytest.raises(NoConnection) as caught:
        Connection(Access(address), 60).send("GET", "/", {}, None)
    assert caught.value.reason == reason
