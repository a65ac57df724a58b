"""Long answers as the messages of a WebSocket: a watch, frame by frame."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Iterator

import pytest

from pybernetes.control_plane.apiserver.http.stream import chunk
from pybernetes.control_plane.apiserver.http.websocket import _chunks, _frame
from tests.servers import TOKEN, Server, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("websocket")) as found:
        yield found


class Client:
    """As little of a WebSocket's client as a test needs."""

    def __init__(self, server: Server, path: str, *more: str) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        self.file = context.wrap_socket(plain).makefile("rwb")
        lines = [
            f"GET {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {TOKEN}", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", *more,
        ]  # fmt: skip
        self.file.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        self.file.flush()
        self.head = []
        while line := self.file.readline().strip():
            self.head.append(line.decode())

    def message(self) -> tuple[int, bytes]:
        kind, size = self.file.read(2)
        if size == 126:
            size = int.from_bytes(self.file.read(2), "big")
        elif size == 127:
            size = int.from_bytes(self.file.read(8), "big")
        return kind, self.file.read(size)


def test_a_watch_has_a_message_for_each_event(server: Server) -> None:
    for name in ("one", "two"):
        data = {"text": "x" * (70000 if name == "two" else 10)}
        server.call(
            "POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}, "data": data}
        )
    path = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=2&labelSelector=!none"
    client = Client(server, path, "Sec-WebSocket-Protocol: anything")
    assert client.head[0].startswith("HTTP/1.1 101")
    assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in client.head
    assert "Sec-WebSocket-Protocol: anything" in client.head
    names = []
    while len(names) < 2:
        kind, text = client.message()
        assert kind == 0x81
        event = json.loads(text)
        names.append(event["object"]["metadata"]["name"])
    assert set(names) <= {"one", "two", "kube-root-ca.crt"}
    assert client.message() == (0x88, b"\x03\xe8")


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536])
def test_frames_and_chunks(size: int) -> None:
    data = b"x" * size
    framed = _frame(2, data)
    assert framed.endswith(data) and framed[0] == 0x82
    assert list(_chunks(chunk(data) + chunk(b"end") if size else chunk(b"end"))) == (
        [data] if size else []
    ) + [b"end"]
