"""The transport over HTTPS: a pool of connections that are kept alive, retries, watches."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import ssl
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from pybernetes.client.credentials import Anonymous, Authority, CredentialError, Credentials
from pybernetes.client.errors import NotSent, from_answer
from pybernetes.client.request_metrics import FAILED, REQUESTS
from pybernetes.client.transport import Headers
from pybernetes.lib.clock import Clock
from pybernetes.lib.event_loop import json_pieces, off_loop
from pybernetes.lib.event_loop.large import Large
from pybernetes.lib.http.client_connection import ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.connection_pool import ConnectionPool
from pybernetes.lib.http.dialer import direct
from pybernetes.lib.http.messages import Reply
from pybernetes.lib.unsigned import unsigned

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

log = logging.getLogger(__name__)
_CONNECT_SECONDS = 10.0
# Longer than the API server itself takes to give up.
_ANSWER_SECONDS = 75.0
# Servers close idle connections; one that is about to be closed must not be used.
_IDLE_SECONDS = 60.0
# How many calls go on at once; more wait their turn. Watches and other streams do not count.
_CALLS_AT_ONCE = 100
_CONNECT_TRIES = 5
_BUSY_TRIES = 10
# Whatever a server asks for: a call that waits holds up its caller.
_LONGEST_WAIT = 60.0
_SAFE = ("GET", "HEAD")
_BATCH = 256
# So many bytes of events are read in a few milliseconds.
_MUCH = 256 << 10


class RestTransport:
    """Connections to one API server."""

    def __init__(
        self,
        server: str,
        credentials: Credentials | None = None,
        *,
        server_name: str = "",
        headers: Sequence[tuple[str, str]] = (),
        clock: Clock | None = None,
        on_warning: Callable[[str], None] | None = None,
        calls_at_once: int = _CALLS_AT_ONCE,
        most_bytes: int | None = None,
    ) -> None:
        # A server that is not trusted: its answers, and the events of its watches, have at most so many bytes.
        self._most_bytes = most_bytes
        address = urlsplit(server)
        if address.scheme not in ("https", "http") or not address.hostname:
            raise ValueError(f"{server!r} is not the address of a server: expected https://host:port")
        self.server = server
        self._host = address.hostname
        self._port = address.port or (443 if address.scheme == "https" else 80)
        self._tls = address.scheme == "https"
        self._prefix = address.path.rstrip("/")
        self._server_name = server_name or self._host
        self._credentials = credentials or Anonymous(Authority())
        self._context: ssl.SSLContext | None = None
        self._clock = clock or Clock()
        self._on_warning = on_warning or _log_warning
        self._pool = ConnectionPool(seconds=_IDLE_SECONDS, most=calls_at_once, clock=self._clock)
        self._turns = asyncio.Semaphore(calls_at_once)
        name = f"[{self._host}]" if ":" in self._host else self._host
        self._address = f"{name}:{self._port}"
        lines = [("Host", self._address), *headers]
        if any(char in text for line in lines for text in line for char in "\r\n"):
            raise ValueError("a header cannot hold the end of a line")
        self._common_headers = "".join(f"{name}: {value}\r\n" for name, value in lines).encode()

    # -- calls -------------------------------------------------------------------------------------------

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> tuple[int, Any]:
        """Return the status and the decoded body of an answer, tried again where that is safe."""
        answer = await self.exchange(method, path, query, body, headers)
        for text in answer.values(b"warning"):
            self._on_warning(warning_text(text))
        if len(answer.body) > _MUCH and is_json(answer):
            return answer.status, await _json(answer.body)
        return answer.status, decoded(answer)

    async def exchange(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> Reply:
        """Return an answer as it came, tried again where that is safe."""
        failures = busy = 0
        while True:
            data = await self._request_bytes(method, path, query, body, headers)
            begun = self._clock.monotonic()
            try:
                answer = await self._once(data)
            except (TimeoutError, OSError) as error:
                self._count(method, FAILED, begun)
                failures += 1
                if isinstance(error, (ssl.SSLCertVerificationError, CredentialError)):
                    raise  # no second try makes that right
                # A write whose answer was lost may have happened: only the caller knows whether to repeat it.
                sent = not isinstance(error, NotSent)
                if failures >= _CONNECT_TRIES or (sent and method not in _SAFE) or self._pool.closed:
                    raise
                if sent and isinstance(error, Disconnected) and not error.begun and failures == 1:
                    continue  # the server closed an idle connection just now
                await self._clock.sleep(backoff(failures, 0.1, 2.0))
                continue
            self._count(method, str(answer.status), begun)
            if answer.status == 401 and self._credentials.refused() and busy == 0:
                busy += 1
                self._pool.forget_idle()
                continue
            wait = retry_after(answer, method in _SAFE)
            if wait is None or busy >= _BUSY_TRIES:
                return answer
            busy += 1
            log.debug(
                "%s %s: the server answered %d, trying again in %g s", method, path, answer.status, wait
            )
            await self._clock.sleep(wait)

    def _count(self, method: str, code: str, begun: float) -> None:
        REQUESTS.count(self._address, method, code, self._clock.monotonic() - begun)

    async def _once(self, data: bytes) -> Reply:
        async with self._turns:
            connection = self._idle_connection() or await self._connect()
            timer = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, _expire, connection)
            try:
                return await connection.request(data)
            finally:
                timer.cancel()
                self._pool.give_back(connection)

    async def watch(self, path: str, query: str, headers: Headers | None = None) -> RestEvents:
        """Open a watch."""
        connection = await self._stream("GET", path, query, b"", headers)
        return RestEvents(connection, self._pool, self._most_bytes)

    async def stream(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> Body:
        """Open a body that goes on."""
        return Body(await self._stream(method, path, query, body, headers), self._pool)

    async def _stream(
        self, method: str, path: str, query: str, body: bytes, headers: Headers | None
    ) -> ClientConnection:
        again = True
        while True:
            data = await self._request_bytes(method, path, query, body, headers)
            begun = self._clock.monotonic()
            reused = self._idle_connection()
            connection = reused or await self._connect()
            timer = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, _expire, connection)
            try:
                answer = await connection.open(data)
            except Disconnected as error:
                if reused is None or error.begun or method not in _SAFE:
                    raise
                continue  # an idle connection that the server closed just now
            finally:
                timer.cancel()
            self._count(method, str(answer.status), begun)
            if answer.status < 300:
                for text in answer.values(b"warning"):
                    self._on_warning(warning_text(text))
                return connection
            answer.body = await connection.read_all()
            self._pool.give_back(connection)
            if answer.status == 401 and again and self._credentials.refused():
                again = False
                self._pool.forget_idle()
                continue
            raise from_answer(answer.status, decoded(answer))

    async def upgrade(self, path: str, query: str, headers: Headers) -> ClientConnection:
        """Turn a request into a connection of another protocol."""
        data = await self._request_bytes("GET", path, query, b"", headers)
        connection = await self._connect()
        timer = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, _expire, connection)
        try:
            answer = await connection.open(data)
        finally:
            timer.cancel()
        if answer.status != 101:
            answer.body = await connection.read_all()
            connection.close()
            raise from_answer(answer.status, decoded(answer))
        return connection

    async def close(self) -> None:
        """Close every connection, in use or not."""
        self._pool.close()

    async def _request_bytes(
        self, method: str, path: str, query: str, body: bytes, headers: Headers | None
    ) -> bytes:
        target = f"{self._prefix}{path}?{query}" if query else self._prefix + path
        lines = [*(headers or {}).items(), *(await self._credentials.headers()).items()]
        if headers is None or b"accept" not in headers:
            lines.append((b"Accept", b"application/json"))
        return request_bytes(method, target, lines, body, self._common_headers)

    # -- connections -------------------------------------------------------------------------------------

    def _idle_connection(self) -> ClientConnection | None:
        context = self._credentials.context() if self._tls else None
        if context is not self._context:  # another certificate: old connections speak for the old one
            self._context = context
            self._pool.forget_idle()
        return self._pool.take()

    async def _connect(self) -> ClientConnection:
        if self._pool.closed:
            raise NotSent("the client was closed")
        context = self._credentials.context() if self._tls else None
        name = self._server_name if context is not None else None
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                connection = await direct(
                    lambda: ClientConnection(limit=self._most_bytes),
                    self._host,
                    self._port,
                    context=context,
                    server_name=name,
                )
        except (OSError, TimeoutError) as error:
            if isinstance(error, ssl.SSLCertVerificationError):
                raise
            raise NotSent(f"{self._host}:{self._port} cannot be reached: {_reason(error)}") from error
        self._context = self._context or context
        self._pool.add(connection)
        return connection


class Body:
    """A body that goes on."""

    def __init__(self, connection: ClientConnection, pool: ConnectionPool) -> None:
        self._connection, self._pool = connection, pool

    async def read(self) -> bytes:
        """Return what came up since the last call; nothing at all at the end."""
        data = await self._connection.read()
        if not data:
            self._pool.give_back(self._connection)
        return data

    def close(self) -> None:
        """End the stream, and with it the connection unless it is complete."""
        if not self._connection.reusable:
            self._connection.close()


class RestEvents(Body):
    """An open watch: one line of JSON for each event."""

    def __init__(
        self, connection: ClientConnection, pool: ConnectionPool, most_bytes: int | None = None
    ) -> None:
        super().__init__(connection, pool)
        self._most_bytes = most_bytes
        self._partial: list[bytes] = []  # of the line that is not complete yet
        self._partial_bytes = 0
        self._lines: list[bytes] = []  # that have come and are not decoded yet, the last one first

    async def batch(self) -> list[tuple[str, Object]]:
        """Return the changes since the last call, at least one; none at all if the watch has ended."""
        while not self._lines:
            data = await self.read()
            if not data:
                return []
            self._split(data)
        # Decoded objects are many times larger than their text: of a long list not all at once.
        events: list[tuple[str, Object]] = []
        size = 0
        while self._lines and len(events) < _BATCH and size < _MUCH:
            line = self._lines.pop()
            size += len(line)
            event = await json_pieces.read(line)
            events.append((event["type"], _sized(event["object"], len(line))))
        return events

    def _split(self, data: bytes) -> None:
        first, *rest = data.split(b"\n")
        self._partial.append(first)
        self._partial_bytes += len(first)
        if rest:
            lines = [b"".join(self._partial), *rest[:-1]]
            self._lines = [line for line in reversed(lines) if line]
            self._partial, self._partial_bytes = [rest[-1]], len(rest[-1])
        if self._most_bytes is not None and self._partial_bytes > self._most_bytes:
            self.close()
            raise Disconnected("an event of the watch is too large", True)


def _expire(connection: ClientConnection) -> None:
    connection.error = TimeoutError("the server did not answer in time")
    connection.close()


async def _json(raw: bytes) -> Any:
    try:
        return await json_pieces.read(raw)
    except orjson.JSONDecodeError as error:
        raise Disconnected(f"the server sent malformed JSON: {error}", True) from None


def _sized(obj: Object, size: int) -> Object:
    if size <= off_loop.LARGE:
        return obj
    large = Large(obj)
    large.size = size
    return large


def is_json(answer: Reply) -> bool:
    """Return whether the body of an answer is JSON."""
    return answer.headers.get(b"content-type", b"").startswith(b"application/json")


def decoded(answer: Reply) -> Any:
    """Return the body of an answer: a JSON value, or text."""
    body = answer.body
    if not body:
        return None
    if is_json(answer):
        try:
            return orjson.loads(body)
        except orjson.JSONDecodeError as error:
            raise Disconnected(f"the server sent malformed JSON: {error}", True) from None
    return body.decode(errors="replace")


def retry_after(answer: Reply, safe: bool) -> float | None:
    """Return the seconds to wait before the same request again, or None if it is not to be repeated.

    A write that timed out inside the server may have happened: it is not ``safe`` to repeat.
    """
    status = answer.status
    if status not in (429, 503) and not (safe and status >= 500):
        return None
    seconds = unsigned(answer.headers.get(b"retry-after"))
    return None if seconds is None else min(_LONGEST_WAIT, float(seconds))


def backoff(attempt: int, first: float, limit: float) -> float:
    """Return the seconds before another attempt: doubled each time, a bit more or less."""
    return min(limit, first * 2 ** (attempt - 1)) * (0.75 + 0.5 * random.random())


def warning_text(value: bytes) -> str:
    """Return the text of a Warning header: ``299 - "text"``."""
    quoted = value.decode(errors="replace").partition(" ")[2].partition(" ")[2].strip()
    return quoted[1:-1].replace('\\"', '"').replace("\\\\", "\\") if quoted.startswith('"') else quoted


def _reason(error: OSError) -> str:
    """Return why there is no connection, without the numbers of this machine's errors."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno).lower()
    return str(error) or "no answer"


def _log_warning(text: str) -> None:
    log.warning("%s", text)
