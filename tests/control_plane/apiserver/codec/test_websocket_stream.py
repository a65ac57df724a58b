"""Long answers as the messages of a WebSocket: a watch, frame by frame."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from pybernetes.lib.http import websocket
from pybernetes.lib.http.stream import chunk, contents
from tests.servers import Server, running
from tests.upgraded import Upgraded


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("websocket")) as running_server:
        yield running_server


def test_a_watch_has_a_message_for_each_event(server: Server) -> None:
    for name in ("one", "two"):
        data = {"text": "x" * (70000 if name == "two" else 10)}
        server.call(
            "POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": name}, "data": data}
        )
    path = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=2&labelSelector=!none"
    client = Upgraded(server, path, "Sec-WebSocket-Protocol: anything")
    assert client.head[0].startswith("HTTP/1.1 101")
    assert "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in client.head
    assert "Sec-WebSocket-Protocol: anything" in client.head
    names: list[str] = []
    while len(names) < 2:
        kind, text = client.message()
        assert kind == 0x81
        event = json.loads(text)
        names.append(event["object"]["metadata"]["name"])
    assert set(names) <= {"one", "two", "kube-root-ca.crt"}
    assert client.message() == (0x88, b"\x03\xe8")


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536])
def test_frames_andcontents(size: int) -> None:
    data = b"x" * size
    framed = websocket.frame(websocket.BINARY, data)
    assert framed.endswith(data) and framed[0] == 0x82
    assert list(contents(chunk(data) + chunk(b"end") if size else chunk(b"end"))) == (
        [data] if size else []
    ) + [b"end"]
