"""The server of ``kubectl proxy``: requests go on to the API server with our credentials, as far as the flags allow."""

from __future__ import annotations

import asyncio
import os
import posixpath
import re
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
from pybernetes.tools.kubectl.connection.client import Client
from pybernetes.tools.kubectl.connection.http import tls_context

_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"transfer-encoding",
        b"host",
        b"content-length",
        b"upgrade",
    )
)
_PATH = "/:@!$&'()*+,;=-._~"
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
Headers = list[tuple[bytes, bytes]]


async def serve(sock: socket.socket, client: Client, flags: Values) -> None:
    """Serve on a socket until cancelled."""
    server = Server(ApiProxy(client, flags))
    await server.listen_on(sock)
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        await server.stop()


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
            target = quote(plain, safe=_PATH) + (f"?{request.query_text}" if request.query_text else "")
            return Response(b"", 301, TEXT, ((b"location", target.encode()),))
        static, prefix = (f"{text.rstrip('/')}/" for text in (flags.www_prefix, flags.api_prefix))
        longer = len(static) > len(prefix) or not request.path.startswith(prefix)
        if flags.www and request.path.startswith(static) and longer:
            return await asyncio.to_thread(static_file, flags.www, request.path[len(static) :])
        if not request.path.startswith(prefix):
            return Response(b"404 page not found\n", 404, TEXT)
        path = request.path if prefix.startswith("/api") else f"/{request.path[len(prefix) :]}"
        if not flags.disable_filter and not allowed(flags, request.method, path, request.header(b"host")):
            return Response(b"Forbidden\n", 403, TEXT)
        try:
            return await self._forward(request, path)
        except OSError as error:
            return Response(f"{error}\n".encode(), 500, TEXT)

    async def _forward(self, request: Request, path: str) -> Answer:
        access = self._client.access
        query = f"?{request.query_text}" if request.query_text else ""
        data = request_bytes(
            request.method,
            (access.prefix if self._flags.append_server_path else "") + quote(path, safe=_PATH) + query,
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
        own = _HOP | named_headers(request.headers.get(b"connection", b""))
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
        if protocol := wanted_protocol(request.headers):
            headers += [(b"Connection", b"Upgrade"), (b"Upgrade", protocol)]
        return headers


def _impersonated(name: str, theirs: set[str]) -> bool:
    """Tell whether a header of ours says for whom to act, and the client has said that itself."""
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
        matches(flags.accept_hosts, name)
        and matches(flags.accept_paths, path)
        and not matches(flags.reject_paths, path)
        and not matches(flags.reject_methods, method)
    )


def static_file(folder: str, name: str) -> Response:
    """Return a file of a folder, or what is in one of its folders, and nothing of anywhere else."""
    import mimetypes

    root = os.path.realpath(folder)
    path = os.path.realpath(os.path.join(root, name.lstrip("/")))
    if os.path.commonpath((root, path)) != root or not os.path.exists(path):
        return Response(b"404 page not found\n", 404, TEXT)
    if os.path.isdir(path):
        if name and not name.endswith("/"):
            last = quote(name.rpartition("/")[2], safe=_PATH)
            return Response(b"", 301, TEXT, ((b"location", f"{last}/".encode()),))
        index = os.path.join(path, "index.html")
        if not os.path.isfile(index):
            return _listing(path)
        path = index
    with open(path, "rb") as file:
        content = file.read()
    # What has no ending that says it is looked at: a byte that no text has makes it none.
    sniffed = "application/octet-stream" if _NO_TEXT.search(content[:512]) else "text/plain; charset=utf-8"
    return Response(content, content_type=(mimetypes.guess_type(path)[0] or sniffed).encode())


def _listing(path: str) -> Response:
    import html

    names = sorted(entry.name + "/" * entry.is_dir() for entry in os.scandir(path))
    lines = [f'<a href="{quote(name, safe=_PATH)}">{html.escape(name)}</a>\n' for name in names]
    head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
    text = f"{head}<pre>\n{''.join(lines)}</pre>\n"
    return Response(text.encode(), content_type=b"text/html; charset=utf-8")
