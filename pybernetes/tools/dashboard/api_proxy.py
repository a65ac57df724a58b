"""Passes requests of pages on to the API server, as the user; of what pages send, only what the API needs goes along."""

from __future__ import annotations

from pybernetes.lib.http.messages import JSON, TEXT, Request, Response
from pybernetes.tools.dashboard import api_paths
from pybernetes.tools.dashboard.guard import DATA_HEADERS
from pybernetes.tools.dashboard.user import User

# Impersonation, credentials and cookies are not a page's to choose.
_PASSED_ON = (b"accept", b"content-type")
# Answers that go on for ever come over the WebSocket.
_ENDLESS = ("watch", "follow")


async def answer(user: User, request: Request, path: str) -> Response:
    """Return what the API server answers to a request for a path of its own."""
    try:
        target = api_paths.checked(path)
    except api_paths.PathRefused as error:
        return Response(f"{error}\n".encode(), 403, TEXT, DATA_HEADERS)
    # As the API server reads them: a name without a value is a yes.
    if any(request.parameter(name, "false") not in ("0", "false") for name in _ENDLESS):
        return Response(b"watches and followed logs come over the stream\n", 400, TEXT, DATA_HEADERS)
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
