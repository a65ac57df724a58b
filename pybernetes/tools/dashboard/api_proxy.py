"""Passes requests of pages on to the API server, as the user; of what pages send, only what the API needs goes along."""

from __future__ import annotations

from collections.abc import AsyncIterator

from pybernetes.client.errors import StatusError
from pybernetes.client.transport import Bytes
from pybernetes.lib.http.messages import JSON, TEXT, Request, Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.lib.http.stream import Stream
from pybernetes.tools.dashboard import api_paths
from pybernetes.tools.dashboard.guard import DATA_HEADERS
from pybernetes.tools.dashboard.user import User

# Impersonation, credentials and cookies are not a page's to choose.
_PASSED_ON = (b"accept", b"content-type")
# Answers that go on for ever come over the WebSocket.
_ENDLESS = ("watch", "follow")


async def answer(user: User, request: Request, path: str) -> Response | Stream:
    """Return what the API server answers to a request for a path of its own."""
    try:
        target = api_paths.checked(path)
    except api_paths.PathRefused as error:
        return Response(f"{error}\n".encode(), 403, TEXT, DATA_HEADERS)
    # As the API server reads them: a name without a value is a yes.
    if any(request.parameter(name, "false") not in ("0", "false") for name in _ENDLESS):
        return Response(b"watches and followed logs come over the stream\n", 400, TEXT, DATA_HEADERS)
    if request.method == "GET" and api_paths.subresource(target.split("/")) == "log":
        return await _log(user, target, request.query_text)
    headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
    try:
        reply = await user.transport.exchange(
            request.method, target, request.query_text, request.body, {**user.client.headers, **headers}
        )
    except OSError as error:
        return Response(f"{error}\n".encode(), 502, TEXT, DATA_HEADERS)
    # Whatever it is, it is not a page.
    kind = JSON if reply.headers.get(b"content-type", b"").startswith(JSON) else TEXT
    return Response(reply.body, reply.status, kind, DATA_HEADERS)


async def _log(user: User, target: str, query: str) -> Response | Stream:
    """Return a log, which may be longer than what can be held, as fast as the page takes it."""
    try:
        body = await user.client.stream(target, query)
    except StatusError as error:
        return Response(f"{error}\n".encode(), error.code, TEXT, DATA_HEADERS)
    except OSError as error:
        return Response(f"{error}\n".encode(), 502, TEXT, DATA_HEADERS)
    stream = PulledStream(_pieces(body))
    stream.headers, stream.on_close = DATA_HEADERS, body.close
    return stream


async def _pieces(body: Bytes) -> AsyncIterator[bytes]:
    while piece := await body.read():
        yield piece
