"""Calls from the same process: the server's whole chain without sockets, TLS or encoded lists and events.

``InProcess(server.http.application, user)`` is a transport for ``pybernetes.client`` that acts as one user. Lists and watches
hand over decoded objects that all callers share, so that an object is decoded once per process however many
informers hold it. Nobody may change them.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import deque
from typing import Any
from urllib.parse import unquote
from weakref import ref

import orjson

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.api import Api
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.http.connection import Application, Upgrade
from pybernetes.control_plane.apiserver.http.messages import Request, Response
from pybernetes.control_plane.apiserver.http.stream import Stream
from pybernetes.control_plane.apiserver.kinds import Kind, SharedObject
from pybernetes.control_plane.apiserver.options import ListOptions
from pybernetes.control_plane.apiserver.selection import Selection
from pybernetes.control_plane.store.protocol import Compacted, Event, Record, StoreError

Headers = dict[bytes, bytes]
Change = tuple[str, Any]


class InProcess:
    """A transport to the server of this process, as one user."""

    def __init__(self, application: Application, user: User) -> None:
        self._application = application
        self._connection: Any = _Caller(user)
        self.user = user

    def _request(self, method: str, path: str, query: str, body: bytes, headers: Headers | None) -> Request:
        path = unquote(path) if "%" in path else path
        request = Request(self._connection, method, path, query, headers or {}, body)
        # The metadata alone would cost more than the whole, which is there.
        if headers and b"PartialObjectMetadata" in headers.get(b"accept", b""):
            request.headers = {name: value for name, value in headers.items() if name != b"accept"}
        request.user = self.user
        request.local = LOCAL
        request.started = time.monotonic()
        return request

    async def _answer(self, request: Request) -> Any:
        answer: Any = self._application(request)
        return await answer if inspect.isawaitable(answer) else answer

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> tuple[int, Any]:
        """The status and the decoded body of an answer."""
        answer = await self._answer(self._request(method, path, query, body, headers))
        if type(answer) is Objects:
            return 200, answer.value
        if isinstance(answer, Response):
            return answer.status, _decoded(answer)
        if isinstance(answer, Stream):
            reader = _Reader(answer)
            parts = []
            while part := await reader.read():
                parts.append(part)
            return answer.status, _value(answer.content_type, b"".join(parts))
        raise errors.bad_request(f"{path} is upgraded, not answered")

    async def watch(self, path: str, query: str, headers: Headers | None = None) -> LocalWatch:
        """Opens a watch."""
        answer = await self._answer(self._request("GET", path, query, b"", headers))
        if isinstance(answer, LocalWatch):
            answer.begin()
            return answer
        if isinstance(answer, Response):
            raise _error(answer)
        raise errors.bad_request(f"{path} is not a watch")

    async def stream(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> _Reader:
        """Opens a body that goes on."""
        answer = await self._answer(self._request(method, path, query, body, headers))
        if isinstance(answer, Response):
            if answer.status >= 400:
                raise _error(answer)
            return _Reader(None, answer.body)
        if isinstance(answer, Upgrade):
            raise errors.bad_request(f"{path} is upgraded, not streamed")
        return _Reader(answer)

    async def upgrade(self, path: str, query: str, headers: Headers) -> _Pipe:
        """Turns a request into a connection of another protocol."""
        lower = {name.lower(): value for name, value in headers.items()}
        answer = await self._answer(self._request("GET", path, query, b"", lower))
        if isinstance(answer, Upgrade):
            pipe = _Pipe(answer)
            await pipe.opened
            return pipe
        if isinstance(answer, Response):
            raise _error(answer)
        raise errors.bad_request(f"{path} cannot be upgraded")

    async def close(self) -> None:
        """There is nothing to let go of: the server belongs to others."""


def _value(content_type: bytes, body: bytes) -> Any:
    if content_type.startswith(b"application/json"):
        return orjson.loads(body) if body else None
    return body.decode(errors="replace")


def _decoded(answer: Response) -> Any:
    return _value(answer.content_type, answer.body)


def _error(answer: Response) -> errors.StatusError:
    status = _decoded(answer)
    if not isinstance(status, dict):
        return errors.StatusError(answer.status, "", str(status))
    code = status.get("code", answer.status)
    return errors.StatusError(
        code, status.get("reason", ""), status.get("message", ""), status.get("details")
    )


class _Caller:
    """What stands for the connection of a caller in this process."""

    tls = None

    def __init__(self, user: User) -> None:
        self.peer = user
        self.transport = self

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """A caller in this process has the address of this machine."""
        return ("127.0.0.1", 0) if name == "peername" else default


class Objects(Response):
    """A list as a decoded value, its items shared with everybody in this process."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        super().__init__(b"")
        self.value = value


class Local:
    """What verbs do for a caller that takes objects instead of bytes."""

    def listing(self, kind: Kind, records: list[Record], meta: dict[str, Any]) -> Objects:
        """The answer to a list."""
        shared = kind.shared
        return Objects({
            "kind": kind.resource.list_kind,
            "apiVersion": kind.resource.api_version,
            "metadata": meta,
            "items": [shared(record) for record in records],
        })  # fmt: skip

    def watch(
        self, api: Api, kind: Kind, prefix: str, selection: Selection, options: ListOptions, start: int
    ) -> LocalWatch:
        """The answer to a watch."""
        return LocalWatch(api, kind, prefix, selection, options, start)


LOCAL = Local()


class LocalWatch(Stream):
    """An open watch that collects changes until they are asked for."""

    def __init__(
        self, api: Api, kind: Kind, prefix: str, selection: Selection, options: ListOptions, start: int
    ) -> None:
        super().__init__()
        self._api, self._kind, self._prefix, self._start = api, kind, prefix, start
        self._match, self._options = selection.match, options
        self._changes: list[Change] = []
        self._waiter: asyncio.Future[None] | None = None
        self._watch: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._counted = api.metrics.events(kind.resource)
        scope = "namespace" if prefix != kind.prefix and kind.namespaced else "cluster"
        self._open_watches = api.metrics.long_running("watch", kind.resource, "", scope)
        if start and start < api.store.compacted:
            raise errors.expired(f"too old resource version: {start} ({api.store.compacted})")

    def begin(self) -> None:
        """Takes the state of now if it is asked for, and listens."""
        store, options = self._api.store, self._options
        self._open_watches.value += 1
        at, initial = self._start, options.initial_events
        if initial or (initial is None and not at):
            at = self._send_state()
        elif not at:
            at = store.revision
        if initial and options.bookmarks:
            self._changes.append(("BOOKMARK", self._bookmark(at)))
        if options.timeout is not None and options.timeout > 0:
            self._timer = asyncio.get_running_loop().call_later(options.timeout, self.close)
        try:
            self._watch = store.watch(self._prefix, at, self._sink, closed=self._closed)
        except Compacted as error:
            self._closed(error)

    def _send_state(self) -> int:
        store, match, shared = self._api.store, self._match, self._kind.shared
        if self._prefix.endswith("/"):
            records = store.list(self._prefix).records
        else:
            record = store.get(self._prefix)
            records = [record] if record is not None else []
        self._changes.extend(
            ("ADDED", shared(record)) for record in records if match is None or match(record)
        )
        return store.revision

    def _bookmark(self, at: int) -> dict[str, Any]:
        resource = self._kind.resource
        meta = {"resourceVersion": str(at), "annotations": {"k8s.io/initial-events-end": "true"}}
        return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}

    def _sink(self, events: list[Event]) -> None:
        changes, match, kind = self._changes, self._match, self._kind
        for event in events:
            record, before = event.record, event.previous
            if match is None:
                if record is not None:
                    type_ = "ADDED" if before is None else "MODIFIED"
                    changes.append((type_, kind.shared(record)))
                else:
                    changes.append(("DELETED", _deleted(kind, event)))
            else:
                matched = before is not None and match(before)
                if record is not None and match(record):
                    changes.append(("MODIFIED" if matched else "ADDED", kind.shared(record)))
                elif matched:
                    changes.append(("DELETED", _deleted(kind, event)))
                else:
                    continue
            self._counted.sent(len((record or before).value))  # type: ignore[union-attr]
        if changes:
            self._wake()

    def _closed(self, error: StoreError | None) -> None:
        if error is not None:
            status = errors.expired(f"too old resource version: {error}")
            self._changes.append(("ERROR", status.body()))
        self.close()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def batch(self) -> list[Change]:
        """The changes since the last call, at least one; none at all if the watch has ended."""
        while not self._changes and not self.closed:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        changes, self._changes = self._changes, []
        return changes

    def close(self) -> None:
        """Ends the watch; what has come up so far can still be had."""
        if self.closed:
            return
        self.closed = True
        self._open_watches.value -= 1
        if self._timer is not None:
            self._timer.cancel()
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        self._wake()


def _deleted(kind: Kind, event: Event) -> Any:
    """The last state of a deleted object with the version of its end, made once for all watchers."""
    if event.frames is None:
        event.frames = {}
    key = ("object", kind.resource.api_version)
    held = event.frames.get(key)
    found = held() if held is not None else None
    if found is None:
        before = kind.shared(event.previous)  # type: ignore[arg-type]
        meta = {**before["metadata"], "resourceVersion": str(event.revision)}
        found = SharedObject(before, metadata=meta)
        event.frames[key] = ref(found)
    return found


class _Reader:
    """The body of a stream, without the chunks that it goes over a connection in."""

    def __init__(self, stream: Stream | None, data: bytes = b"") -> None:
        self._stream = stream
        self._parts: deque[bytes] = deque([data] if data else [])
        self._raw = b""
        self._ended = stream is None
        self._waiter: asyncio.Future[None] | None = None
        self.transport = self
        if stream is not None:
            stream.attach(self, None)  # type: ignore[arg-type]

    # What a stream asks of its connection.

    def write(self, chunks: bytes) -> None:
        self._raw += chunks
        while True:
            head, separator, rest = self._raw.partition(b"\r\n")
            if not separator or len(rest) < int(head, 16) + 2:
                break
            size = int(head, 16)
            if size:
                self._parts.append(rest[:size])
            else:
                self._ended = True
            self._raw = rest[size + 2 :]
        self._wake()

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self._parts))

    def finished(self) -> None:
        self._ended = True
        self._wake()

    def abort(self) -> None:
        self.close()

    # What the client asks.

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self) -> bytes:
        """What came up since the last call; nothing at all at the end."""
        while not self._parts and not self._ended:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data = b"".join(self._parts)
        self._parts.clear()
        return data

    def close(self) -> None:
        """Ends the stream."""
        self._ended = True
        if self._stream is not None:
            self._stream.lost()
        self._wake()


class _Pipe:
    """The client's end of an upgraded connection within the process."""

    def __init__(self, answer: Upgrade) -> None:
        self.headers: Headers = {}
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._head = b""
        self._data = b""
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self._server = answer.start(_Far(self), b"")  # type: ignore[arg-type]

    def receive(self, data: bytes) -> None:
        """Takes what the server's side wrote, which begins with the head of an HTTP answer."""
        if not self.opened.done():
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            for line in head.split(b"\r\n")[1:]:
                name, _, value = line.partition(b":")
                self.headers[name.strip().lower()] = value.strip()
            self.opened.set_result(None)
        self._data += data
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self) -> bytes:
        """What came up since the last call; nothing at all at the end."""
        while not self._data and not self._closed:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data, self._data = self._data, b""
        return data

    def write(self, data: bytes) -> None:
        """Sends bytes to the server's side."""
        if not self._closed:
            self._server.data_received(data)

    async def drain(self) -> None:
        """The server's side has taken all that was written."""

    def ended(self) -> None:
        """The server's side has closed."""
        self._closed = True
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the connection was closed before it was open"))
        self._wake()

    def close(self) -> None:
        """Ends the connection."""
        if not self._closed:
            self._closed = True
            self._wake()
            self._server.connection_lost(None)


class _Far:
    """The server's end: what it takes for the transport of a connection."""

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe

    def write(self, data: bytes) -> None:
        self._pipe.receive(data)

    def writelines(self, parts: Any) -> None:
        self._pipe.receive(b"".join(parts))

    def close(self) -> None:
        self._pipe.ended()

    def abort(self) -> None:
        self._pipe.ended()

    def is_closing(self) -> bool:
        return self._pipe._closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return len(self._pipe._data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default
