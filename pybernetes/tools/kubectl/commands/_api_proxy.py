"""The server of ``kubectl proxy``: requests go on to the API server with our credentials, as far as the flags allow."""

from __future__ import annotations

import asyncio
import posixpath
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

from pybernetes.api.text.regular_expressions import compile_pattern
from pybernetes.lib.http.client_connection import ClientConnection, request_bytes
from pybernetes.lib.http.dialer import direct
from pybernetes.lib.http.duplex import splice
from pybernetes.lib.http.messages import TEXT, Request, Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.lib.http.server import Server
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.upgrade import named_headers, switching_protocols, upgraded, wanted_protocol
from pybernetes.tools.kubectl.command_line.flags import Values
from pybernetes.tools.kubectl.commands._static_files import SAFE, redirect, refusal, static_file
from pybernetes.tools.kubectl.connection.client import Client
from pybernetes.tools.kubectl.connection.http import tls_context

_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"trailer",
        b"transfer-encoding",
        b"host",
        b"content-length",
        b"upgrade",
    )
)
_FORWARDED = b"x-forwarded-for"
Headers = list[tuple[bytes, bytes]]


async def serve(sock: socket.socket, client: Client, flags: Values) -> None:
    """Serve on a socket until cancelled."""
    server = Server(ApiProxy(client, flags), request_class=_Request)
    await server.listen_on(sock)
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        await server.stop()


class _Request(Request):
    """A request, with its target as it came: an escaped slash does not mean the same as a plain one."""

    __slots__ = ("target",)

    def __init__(self, connection: Any, *parts: Any) -> None:
        super().__init__(connection, *parts)
        self.target: str = connection.target.decode("latin-1")


def _as_it_came(request: Request, prefix: str) -> str:
    """Return the path that the server is to be asked for; empty if the prefix before it was written with escapes."""
    path = request.target.partition("?")[0] if isinstance(request, _Request) else ""
    if prefix.startswith("/api"):
        return path
    return f"/{path[len(prefix) :]}" if path.startswith(prefix) else ""


def _elsewhere(path: str, request: Request) -> Response:
    """Return the answer that sends a client to another path, with the same query."""
    return redirect(quote(path, safe=SAFE) + (f"?{request.query_text}" if request.query_text else ""))


class ApiProxy:
    """Answers a request with what the API server says to it."""

    def __init__(self, client: Client, flags: Values) -> None:
        self._client, self._flags = client, flags
        access = client.access
        self._tls = tls_context(access) if access.scheme == "https" else None

    async def __call__(self, request: Request) -> Answer:
        """Answer a request."""
        flags = self._flags
        if (plain := _plain(request.path)) != request.path:
            return _elsewhere(plain, request)
        static, prefix = (f"{text.rstrip('/')}/" for text in (flags.www_prefix, flags.api_prefix))
        longer = len(static) > len(prefix) or not request.path.startswith(prefix)
        if flags.www and request.path.startswith(static) and longer:
            return await asyncio.to_thread(static_file, flags.www, request.path[len(static) :])
        if f"{request.path}/" in ([static, prefix] if flags.www else [prefix]):
            return _elsewhere(f"{request.path}/", request)
        if not request.path.startswith(prefix):
            return refusal("404 page not found", 404)
        path = request.path if prefix.startswith("/api") else f"/{request.path[len(prefix) :]}"
        if not flags.disable_filter and not allowed(flags, request.method, path, request.header(b"host")):
            return refusal("Forbidden", 403)
        try:
            return await self._forward(request, _as_it_came(request, prefix) or quote(path, safe=SAFE))
        except OSError as error:
            return Response(f"{error}\n".encode(), 500, TEXT)

    async def _forward(self, request: Request, path: str) -> Answer:
        access = self._client.access
        query = f"?{request.query_text}" if request.query_text else ""
        data = request_bytes(
            request.method,
            (access.prefix if self._flags.append_server_path else "") + path + query,
            self._headers(request),
            request.body,
        )
        name = (access.server_name or access.host) if self._tls is not None else None
        backend = await direct(
            ClientConnection, access.host, access.port, context=self._tls, server_name=name
        )
        reply = await backend.open(data)
        if reply.status == 101:
            if not wanted_protocol(request.headers):  # it would get the next requests as they are
                backend.close()
                return Response(b"the server switched protocols unasked\n", 502, TEXT)
            head = switching_protocols(reply.header_list)
            return upgraded(head, lambda client: splice(client, backend), abandon=backend.close)
        headers = [(name, value) for name, value in reply.header_list if name.lower() not in _HOP]
        content_type = reply.headers.get(b"content-type", TEXT)
        passed_back = tuple(
            header for header in headers if header[0].lower() not in (b"content-type", b"date")
        )
        stream = PulledStream(_body(backend), content_type=content_type, status=reply.status)
        stream.headers, stream.on_close = passed_back, backend.close
        return stream

    def _headers(self, request: Request) -> Headers:
        own = _HOP | {_FORWARDED} | named_headers(request.headers.get(b"connection", b""))
        kept = {name.decode("latin-1"): request.values(name) for name in request.headers if name not in own}
        headers: Headers = [(b"Host", self._client.access.host_header.encode())]
        # What the client says itself wins, as in the original: which program it is and who it is, above all.
        theirs = {name for name, values in kept.items() if any(values)}
        ours = {
            name.lower(): value
            for name, value in self._client.headers({}).items()
            if name.lower() not in theirs and not _impersonated(name, theirs)
        }
        for name, values in (kept | ours).items():
            for value in values if isinstance(values, list) else [values]:
                headers.append((name.encode(), str(value).encode()))
        if peer := request.connection.address():
            headers.append((b"X-Forwarded-For", ", ".join([*request.values(_FORWARDED), peer]).encode()))
        if protocol := wanted_protocol(request.headers):
            headers += [(b"Connection", b"Upgrade"), (b"Upgrade", protocol)]
        return headers


def _impersonated(name: str, theirs: set[str]) -> bool:
    """Return whether a header of ours says for whom to act, and the client has said that itself."""
    return name.lower().startswith("impersonate-") and "impersonate-user" in theirs


def _plain(path: str) -> str:
    """Return a path without empty parts and steps up."""
    if not path.startswith("/"):
        return path
    plain = "/" + posixpath.normpath(path).lstrip("/")
    return plain + "/" if path.endswith("/") and plain != "/" else plain


async def _body(backend: ClientConnection) -> AsyncIterator[bytes]:
    try:
        while data := await backend.read():
            yield data
    finally:
        backend.close()


def allowed(flags: Any, method: str, path: str, host: str) -> bool:
    """Return whether the flags let a request pass."""

    def matches(patterns: str, text: str) -> bool:
        return bool(patterns) and any(
            compile_pattern(pattern).search(text) for pattern in patterns.split(",")
        )

    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return (
        (matches(flags.accept_hosts, name) or matches(flags.accept_hosts, name.strip("[]")))
        and matches(flags.accept_paths, path)
        and not matches(flags.reject_paths, path)
        and not matches(flags.reject_methods, method)
    )
