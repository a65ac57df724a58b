"""The transport over HTTP against a server that does what a script says."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from pybernetes.client import Client, Expired, NotFound, StatusError, TooManyRequests, Unauthorized
from pybernetes.client.credentials import Authority, Credentials
from pybernetes.client.errors import NotSent
from pybernetes.client.rate_limiter import RateLimiter
from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.client.rest_transport import RestTransport, retry_after, warning_text
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.http.messages import Reply

CLOSE = "close the connection without an answer"


def answer(status: int, value: Any = None, headers: str = "") -> bytes:
    body = orjson.dumps(value) if value is not None else b""
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def status(code: int, reason: str) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "reason": reason,
        "message": f"it is {reason}",
        "code": code,
    }


class Server:
    """Answers requests from a script, one after the other, and remembers them."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[bytes] = []
        self.connections = 0
        self.writers: list[asyncio.StreamWriter] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
                self.requests.append(head + body)
                step = self.script.pop(0)
                if step is CLOSE:
                    break
                writer.write(step)
                if b"connection: close" in step.lower():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(*script: Any, clock: Any = None, **options: Any) -> AsyncIterator[tuple[Server, Client]]:
    server = Server(*script)
    listener = await asyncio.start_server(server, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    client = Client(RestTransport(f"http://127.0.0.1:{port}", clock=clock, **options))
    try:
        yield server, client
    finally:
        await client.close()
        listener.close()


OBJECT = {"kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}


async def test_connections_are_kept_and_used_again() -> None:
    async with serving(*[answer(200, OBJECT)] * 5) as (server, client):
        for _ in range(5):
            assert await client.get(CONFIG_MAPS, "a", "default") == OBJECT
        assert server.connections == 1
        assert server.requests[0].startswith(b"GET /api/v1/namespaces/default/configmaps/a HTTP/1.1\r\n")
        assert b"user-agent: pybernetes\r\n" in server.requests[0]


async def test_a_busy_server_is_asked_again_when_it_says() -> None:
    clock = ManualClock()
    busy = answer(429, status(429, "TooManyRequests"), "Retry-After: 3\r\n")
    down = answer(503, status(503, "ServiceUnavailable"), "Retry-After: 1\r\n")
    async with serving(busy, down, answer(201, OBJECT), clock=clock) as (server, client):
        call = asyncio.ensure_future(client.create(CONFIG_MAPS, OBJECT))
        async with asyncio.timeout(60):
            while not call.done():
                await clock.advance(0.1)
        assert await call == OBJECT and len(server.requests) == 3
        assert clock.monotonic() >= 4


async def test_without_a_time_to_wait_busy_is_an_error() -> None:
    async with serving(answer(429, status(429, "TooManyRequests"))) as (server, client):
        with pytest.raises(TooManyRequests, match="it is TooManyRequests"):
            await client.create(CONFIG_MAPS, OBJECT)
        assert len(server.requests) == 1


async def test_reads_survive_a_connection_that_was_closed_writes_do_not() -> None:
    async with serving(answer(200, OBJECT), CLOSE, answer(200, OBJECT), CLOSE) as (server, client):
        await client.get(CONFIG_MAPS, "a", "default")
        await client.get(CONFIG_MAPS, "a", "default")  # the first try met a closed connection
        assert len(server.requests) == 3
        with pytest.raises(ConnectionError):
            await client.create(CONFIG_MAPS, OBJECT)
        assert len(server.requests) == 4


async def test_a_connection_that_the_server_ends_is_not_used_again() -> None:
    once = answer(200, OBJECT, "Connection: close\r\n")
    async with serving(once, answer(200, OBJECT)) as (server, client):
        await client.get(CONFIG_MAPS, "a", "default")
        await client.get(CONFIG_MAPS, "a", "default")
        assert server.connections == 2


async def test_nobody_listens() -> None:
    with socket.socket() as taken:  # so that nobody else listens there
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        rest = RestTransport(f"http://{address}", clock=ManualClock())
        call = asyncio.ensure_future(rest.send("POST", "/api/v1/x"))
        clock = rest._clock
        async with asyncio.timeout(60):
            while not call.done():
                await clock.advance(1)  # type: ignore[attr-defined]
        with pytest.raises(NotSent, match=re.escape(f"{address} cannot be reached: connection refused")):
            await call


async def test_an_idle_connection_is_not_trusted_for_long() -> None:
    clock = ManualClock()
    async with serving(*[answer(200, OBJECT)] * 2, clock=clock) as (server, client):
        await client.get(CONFIG_MAPS, "a", "default")
        await clock.advance(61)
        await client.get(CONFIG_MAPS, "a", "default")
        assert server.connections == 2


async def test_a_cancelled_call_leaves_no_answer_behind() -> None:
    async with serving(b"", answer(200, OBJECT)) as (server, client):
        call = asyncio.ensure_future(client.get(CONFIG_MAPS, "late", "default"))
        async with asyncio.timeout(60):
            while not server.requests:
                await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await client.get(CONFIG_MAPS, "a", "default") == OBJECT
        assert server.connections == 2


def chunked(*parts: bytes, end: bool = True) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return head + body + (b"0\r\n\r\n" if end else b"")


def line(type_: str, **obj: Any) -> bytes:
    return orjson.dumps({"type": type_, "object": {"metadata": {"resourceVersion": "7"}, **obj}}) + b"\n"


async def test_events_that_come_in_pieces() -> None:
    first, second = line("ADDED", n=1), line("MODIFIED", n=2)
    stream = chunked(first[:10], first[10:] + second[:5], second[5:])
    async with serving(stream, answer(200, OBJECT)) as (server, client):
        async with client.watch(CONFIG_MAPS) as events:
            received = [(event.type, event.object["n"]) async for event in events]
        assert received == [("ADDED", 1), ("MODIFIED", 2)] and events.resource_version == "7"
        await client.get(CONFIG_MAPS, "a", "default")
        assert server.connections == 1  # a watch that has ended gives its connection back


async def test_a_server_that_is_not_trusted_cannot_send_without_end() -> None:
    large = {**OBJECT, "data": "x" * 5000}
    async with serving(answer(200, large), answer(200, OBJECT), most_bytes=1000) as (_, client):
        with pytest.raises(OSError, match="too large"):
            await client.call("POST", "/api")
        assert await client.get(CONFIG_MAPS, "a", "default") == OBJECT
    pieces = [b"x" * 300 for _ in range(10)]
    stream = chunked(line("ADDED", n=1), *pieces, end=False)
    async with serving(stream, most_bytes=1000) as (_, client), client.watch(CONFIG_MAPS) as events:
        with pytest.raises(OSError, match="too large"):
            while True:  # what came before may be told first
                assert await events.batch()
    refused = b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    async with serving(refused + body, most_bytes=1000) as (_, client), client.watch(CONFIG_MAPS) as events:
        with pytest.raises(OSError, match="too large"):
            await events.batch()


async def test_a_watch_that_expires_tells_what_came_before() -> None:
    stream = chunked(
        line("ADDED", n=1) + orjson.dumps({"type": "ERROR", "object": status(410, "Expired")}) + b"\n"
    )
    async with serving(stream) as (_, client), client.watch(CONFIG_MAPS) as events:
        assert (await anext(events)).object["n"] == 1
        with pytest.raises(Expired):
            await anext(events)


async def test_a_watch_that_is_refused() -> None:
    async with (
        serving(answer(404, status(404, "NotFound")), answer(200, OBJECT)) as (server, client),
        client.watch(CONFIG_MAPS) as events,
    ):
        with pytest.raises(NotFound):
            await anext(events)
        await client.get(CONFIG_MAPS, "a", "default")
        assert server.connections == 1


async def test_a_watch_whose_connection_breaks() -> None:
    async with (
        serving(chunked(line("ADDED", n=1), end=False)) as (server, client),
        client.watch(CONFIG_MAPS) as events,
    ):
        await anext(events)
        server.writers[0].transport.abort()
        with pytest.raises(ConnectionError):
            await anext(events)


class Renewing(Credentials):
    """Credentials with a number, which grows when they are refused."""

    number = 1

    async def headers(self) -> dict[bytes, bytes]:
        return {b"authorization": b"Bearer %d" % self.number}

    def refused(self) -> bool:
        self.number += 1
        return True


async def test_refused_credentials_are_renewed_once() -> None:
    no = answer(401, status(401, "Unauthorized"))
    credentials = Renewing(Authority())
    async with serving(no, answer(200, OBJECT), no, no, credentials=credentials) as (server, client):
        await client.get(CONFIG_MAPS, "a", "default")
        assert b"Bearer 1" in server.requests[0] and b"Bearer 2" in server.requests[1]
        with pytest.raises(Unauthorized):
            await client.get(CONFIG_MAPS, "a", "default")
        assert len(server.requests) == 4


async def test_what_is_no_status_is_an_error_too() -> None:
    page = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
    async with serving(page) as (_, client):
        with pytest.raises(StatusError, match="<html>") as error:
            await client.get(CONFIG_MAPS, "a", "default")
        assert error.value.code == 502


async def test_warnings_are_passed_on() -> None:
    told: list[str] = []
    warned = answer(200, OBJECT, 'Warning: 299 - "it is \\"old\\""\r\nWarning: 299 - "and odd"\r\n')
    async with serving(warned, on_warning=told.append) as (_, client):
        await client.get(CONFIG_MAPS, "a", "default")
    assert told == ['it is "old"', "and odd"]


async def test_a_limiter() -> None:
    clock = ManualClock()
    limiter = RateLimiter(10, 3, clock)
    assert [limiter.reserve() for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])
    await clock.advance(10)
    assert [limiter.take() for _ in range(4)] == [True, True, True, False]


@pytest.mark.parametrize("text", ["", "nonsense", "ftp://host", "https://"])
def test_addresses_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="expected https://host:port"):
        RestTransport(text)


def test_headers_cannot_be_smuggled_in() -> None:
    with pytest.raises(ValueError, match="end of a line"):
        RestTransport("http://x", headers=[("Impersonate-User", "a\r\nX: y")])
    assert warning_text(b'299 - "plain"') == "plain"


@pytest.mark.parametrize(
    ("code", "headers", "safe", "wait"),
    [
        (429, "2", False, 2.0),
        (503, "1", False, 1.0),
        (504, "1", False, None),
        (504, "1", True, 1.0),
        (500, "1", True, 1.0),
        (429, "", True, None),
        (429, "60", True, 60.0),
        (429, "86400", True, 60.0),
        (429, "9" * 5000, True, None),
        (429, "-1", True, None),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", True, None),
        (409, "1", True, None),
        (200, "1", True, None),
    ],
)
def test_what_is_asked_again(code: int, headers: str, safe: bool, wait: float | None) -> None:
    given = Reply(code, [(b"Retry-After", headers.encode())] if headers else [])
    assert retry_after(given, safe) == wait
