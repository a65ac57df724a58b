"""The transport: requests made of arguments, answers taken apart."""

from __future__ import annotations

import inspect
import time
from typing import Any
from urllib.parse import unquote

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.inprocess.objects import LOCAL, LocalWatch, Objects
from pybernetes.control_plane.apiserver.inprocess.pipes import Headers, Pipe, Reader
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.lib.event_loop import json_pieces
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer, Application
from pybernetes.lib.http.stream import Stream
from pybernetes.lib.http.upgrade import Upgrade


class InProcessTransport:
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

    async def _answer(self, request: Request) -> Answer:
        answer = self._application(request)
        return await answer if inspect.isawaitable(answer) else answer

    async def send(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> tuple[int, Any]:
        """Return the status and the decoded body of an answer."""
        answer = await self._answer(self._request(method, path, query, body, headers))
        if type(answer) is Objects:
            return 200, answer.value
        if isinstance(answer, Response):
            return answer.status, await _decoded(answer)
        if isinstance(answer, Stream):
            reader = Reader(answer)
            parts = []
            while part := await reader.read():
                parts.append(part)
            return answer.status, await _value(answer.content_type, b"".join(parts))
        raise errors.bad_request(f"{path} is upgraded, not answered")

    async def watch(self, path: str, query: str, headers: Headers | None = None) -> LocalWatch:
        """Open a watch."""
        answer = await self._answer(self._request("GET", path, query, b"", headers))
        if isinstance(answer, LocalWatch):
            try:
                answer.begin()
            except StoreError as error:
                raise errors.unavailable(f"storage is (re)initializing or unreachable: {error}") from None
            return answer
        if isinstance(answer, Response):
            raise await _error(answer)
        raise errors.bad_request(f"{path} is not a watch")

    async def stream(
        self, method: str, path: str, query: str = "", body: bytes = b"", headers: Headers | None = None
    ) -> Reader:
        """Open a body that goes on."""
        answer = await self._answer(self._request(method, path, query, body, headers))
        if isinstance(answer, Response):
            if answer.status >= 400:
                raise await _error(answer)
            return Reader(None, answer.body)
        if isinstance(answer, Upgrade):
            raise errors.bad_request(f"{path} is upgraded, not streamed")
        return Reader(answer)

    async def upgrade(self, path: str, query: str, headers: Headers) -> Pipe:
        """Turn a request into a connection of another protocol."""
        lower = {name.lower(): value for name, value in headers.items()}
        answer = await self._answer(self._request("GET", path, query, b"", lower))
        if isinstance(answer, Upgrade):
            pipe = Pipe(answer)
            await pipe.opened
            return pipe
        if isinstance(answer, Response):
            raise await _error(answer)
        raise errors.bad_request(f"{path} cannot be upgraded")

    async def close(self) -> None:
        """Do nothing: the server belongs to others."""


async def _value(content_type: bytes, body: bytes) -> Any:
    """Return what a body says; a large one is read beside the loop, as clients of other processes do."""
    if content_type.startswith(b"application/json"):
        return await json_pieces.read(body) if body else None
    return body.decode(errors="replace")


async def _decoded(answer: Response) -> Any:
    return await _value(answer.content_type, answer.body)


async def _error(answer: Response) -> errors.StatusError:
    status = await _decoded(answer)
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
        """Return the address of this machine for a caller in this process."""
        return ("127.0.0.1", 0) if name == "peername" else default
