"""Processes in containers, and servers that go away in the middle."""

from __future__ import annotations

import io
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.http import websocket
from pybernetes.tools.kubectl.connection import streaming
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig.access import Access


@contextmanager
def server(*frames: bytes) -> Iterator[Any]:
    """Yield the context of a command whose server agrees to a WebSocket, sends frames and hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    received: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            asked = re.search(rb"Sec-WebSocket-Key: (\S+)", connection.recv(65536))
            assert asked is not None
            headers = websocket.accept_headers(asked[1], b"v5.channel.k8s.io")
            lines = [b"HTTP/1.1 101 Switching Protocols", *(b"%b: %b" % header for header in headers)]
            connection.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
            if not frames:  # an echo
                parser = websocket.Parser(masked=True)
                while data := connection.recv(65536):
                    parser.feed(data)
                    for _, message in iter(parser.next, None):
                        if message[:1] == b"\xff":
                            connection.sendall(websocket.frame(2, b'\x03{"status":"Success"}'))
                            connection.sendall(websocket.frame(8, b"\x03\xe8"))
                            return
                        received.append(message)
            connection.sendall(b"".join(frames))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    client = SimpleNamespace(
        access=Access(f"http://127.0.0.1:{listener.getsockname()[1]}"), headers=lambda asked: asked
    )
    try:
        yield SimpleNamespace(client=client, stdout=io.StringIO(), stderr=io.StringIO(), received=received)
    finally:
        thread.join(60)
        listener.close()


def run(context: Any, **options: Any) -> int:
    return streaming.run(context, "/x", [], stdin=False, tty=False, **options)


OUT, BYE = websocket.frame(2, b"\x01out"), websocket.frame(8, b"\x03\xe8")


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (b'{"status":"Success"}', 0),
        (b'{"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}', 7),
        (b'{"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"x"}]}}', 1),
        (b'{"reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode"}]}}', 1),
    ],
)
def test_how_a_process_ended(status: bytes, code: int) -> None:
    with server(OUT, websocket.frame(2, b"\x03" + status), BYE) as context:
        assert run(context) == code
        assert context.stdout.getvalue() == "out"


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ((OUT,), r"websocket: close 1006 \(abnormal closure\): unexpected EOF"),
        ((OUT[:2],), "close 1006"),
        ((OUT, websocket.frame(8, b"\x03\xf3")), "websocket: close 1011"),
        ((OUT, websocket.frame(2, b"\x03[1]"), BYE), r"\[1\]"),
        ((OUT, websocket.frame(2, b"\x03nonsense"), BYE), "nonsense"),
    ],
)
def test_a_server_that_goes_away_is_no_success(frames: tuple[bytes, ...], text: str) -> None:
    """An archive or a log that ends there would look whole."""
    with server(*frames) as context, pytest.raises(CommandError, match=text):
        run(context)


def test_what_is_given_is_sent_while_it_is_made() -> None:
    def give(write: streaming.Write) -> None:
        for number in range(100):
            write(b"%d," % number)

    with server() as context:
        assert run(context, given=give) == 0
        assert b"".join(message[1:] for message in context.received) == b"".join(
            b"%d," % n for n in range(100)
        )
