from __future__ import annotations

import asyncio
from typing import Any, cast

import orjson
import pytest

from pybernetes.client.errors import Forbidden
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.tools.dashboard.live_stream import LiveStream
from pybernetes.tools.dashboard.user import User
from tests.support import eventually


class Socket:
    """A page: what it says, and what it is told."""

    def __init__(self) -> None:
        self.said: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.told: list[dict[str, Any]] = []
        self.closed = False
        self.code = 0

    async def receive(self) -> bytes | None:
        return await self.said.get()

    async def send(self, payload: bytes, opcode: int = 0) -> None:
        self.told.append(orjson.loads(payload))

    def close(self, code: int = 1000) -> None:
        self.closed, self.code = True, code


class Log:
    """A log in parts, the last of which comes when somebody says so."""

    def __init__(self, *parts: bytes, goes_on: bool = False) -> None:
        self.parts, self.goes_on, self.closed = list(parts), goes_on, False

    async def read(self) -> bytes:
        if not self.parts and self.goes_on:
            await asyncio.Event().wait()
        return self.parts.pop(0) if self.parts else b""

    def close(self) -> None:
        self.closed = True


class Api:
    """An API server that has one log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.asked: list[tuple[str, str]] = []

    @property
    def client(self) -> Api:
        return self

    on_this_machine = True

    async def stream(self, path: str, query: str = "") -> Log:
        self.asked.append((path, query))
        if "secret" in path:
            raise Forbidden(403, "Forbidden", "pods is forbidden")
        return self.log


async def _served(*messages: object, log: Log | None = None) -> tuple[Socket, Api]:
    socket, api = Socket(), Api(log or Log())
    for message in messages:
        socket.said.put_nowait(message if isinstance(message, bytes) else orjson.dumps(message))
    serving = asyncio.ensure_future(LiveStream(cast(User, api), cast(WebSocket, socket)).serve())
    await eventually(lambda: socket.closed or any("end" in message for message in socket.told))
    socket.said.put_nowait(None)
    await serving
    return socket, api


@pytest.mark.parametrize(
    "message",
    [b"", b"{", b"[]", b"1", {}, {"id": "1"}, {"id": True}, {"id": None, "op": "log"}, b"[" * 70_000, b"\xff"],
)  # fmt: skip
async def test_what_is_no_message_ends_the_connection(message: object) -> None:
    socket, _ = await _served(message)
    assert socket.code == 1008 and socket.told == []


@pytest.mark.parametrize(
    "ask",
    [
        {},
        {"op": "none"},
        {"op": ["log"]},
        {"op": "_channel"},
        {"op": "log"},
        {"op": "log", "path": 7},
        {"op": "log", "path": "/api/v1/namespaces/a/pods/b"},
        {"op": "log", "path": "/api/v1/namespaces/a/pods/b/proxy/log"},
        {"op": "log", "path": "/api/v1/namespaces/a/pods/b/log", "tail": "-1"},
        {"op": "table", "path": "/metrics"},
        {"op": "shell", "namespace": "a", "pod": "b"},
        {"op": "shell", "namespace": "a", "pod": "b", "size": [80]},
        {"op": "shell", "namespace": "a", "pod": "b", "size": [80, 24000]},
        {"op": "shell", "namespace": "a/pods/c/attach?x=", "pod": "b", "size": [80, 24]},
        {"op": "shell", "namespace": "a", "pod": "..", "size": [80, 24]},
        {"op": "port_forward", "namespace": "a", "pod": "b", "port": "65536"},
        {"op": "port_forward", "namespace": "a", "pod": "b", "port": "-1"},
        {"op": "port_forward", "namespace": "a", "pod": "b", "port": "²"},
        {"op": "trace", "namespace": "a", "pod": "b/c"},
        {"op": "why", "resource": "services.serving.knative.dev", "name": "a"},
        {"op": "why", "message": "it does not work"},
        {"op": "access"},
        {"op": "access", "asks": [1]},
        {"op": "access", "asks": [{}] * 33},
    ],
)
async def test_bad_wishes_get_an_error(ask: dict[str, Any]) -> None:
    socket, api = await _served({"id": 5, **ask})
    (message,) = socket.told
    assert (message["id"], message["end"], message["error"]["code"]) == (5, True, 400)
    assert api.asked == []


async def test_a_log_comes_whole_even_with_characters_in_two_parts() -> None:
    log = Log("grün".encode()[:3], "grün".encode()[3:], b"\xff\n")
    socket, api = await _served(
        {"id": 1, "op": "log", "path": "/api/v1/namespaces/a/pods/b/log", "container": "c"}, log=log
    )
    assert "".join(message.get("text", "") for message in socket.told) == "grün\ufffd\n"
    assert socket.told[-1] == {"id": 1, "end": True} and log.closed
    assert api.asked == [("/api/v1/namespaces/a/pods/b/log", "container=c&tailLines=1000&follow=true")]


async def test_what_the_server_refuses_is_told() -> None:
    socket, _ = await _served({"id": 1, "op": "log", "path": "/api/v1/namespaces/secret/pods/b/log"})
    assert socket.told == [
        {"id": 1, "end": True, "error": {"code": 403, "reason": "Forbidden", "message": "pods is forbidden"}}
    ]


async def test_subscriptions_have_a_bound_and_end_with_the_page() -> None:
    log = Log(goes_on=True)
    ask = {"op": "log", "path": "/api/v1/namespaces/a/pods/b/log"}
    socket, api = await _served(*({"id": number, **ask} for number in range(65)), log=log)
    assert socket.code == 1008 and len(api.asked) <= 64


async def test_two_subscriptions_with_one_id_end_the_connection() -> None:
    ask = {"id": 1, "op": "log", "path": "/api/v1/namespaces/a/pods/b/log"}
    socket, _ = await _served(ask, ask, log=Log(goes_on=True))
    assert socket.code == 1008


async def test_a_page_that_says_more_than_is_taken_is_let_go() -> None:
    ask = {"id": 1, "op": "log", "path": "/api/v1/namespaces/a/pods/b/log"}
    words = ({"id": 1, "op": "say", "text": "x"} for _ in range(1025))
    socket, _ = await _served(ask, *words, log=Log(goes_on=True))
    assert socket.code == 1008
