"""A proxy before an API server that records what it is asked, and lets nothing be changed: writes become dry runs."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

_REVIEWS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")


class Recorded(NamedTuple):
    """A request as a kubectl sent it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    content_type: str
    body: Any


def is_discovery(path: str) -> bool:
    """Tell whether a path is one of those that say which resources there are.

    They are asked for and kept in different ways: that is no part of a comparison.
    """
    if path in ("/api", "/apis", "/version") or path.startswith("/openapi"):
        return True
    parts = path.strip("/").split("/")
    return (parts[0] == "api" and len(parts) == 2) or (parts[0] == "apis" and len(parts) in (2, 3))


class RecordingProxy:
    """Passes requests on to a server with a token, and keeps them."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._requests: list[Recorded] = []
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Say nothing."""

            def _handle(self) -> None:
                proxy.handle(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        self._kept = threading.local()

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def taken(self) -> list[Recorded]:
        """Return the requests since this was asked last."""
        with self._lock:
            requests, self._requests = self._requests, []
        return requests

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Record a request, pass it on, and pass the answer back."""
        body = _body(handler)
        parts = urlsplit(handler.path)
        if not is_discovery(parts.path):
            query = tuple(sorted(pair for pair in parse_qsl(parts.query, True) if pair[0] != "timeout"))
            content_type = (handler.headers.get("Content-Type") or "").partition(";")[0]
            recorded = Recorded(
                handler.command, parts.path, query, content_type if body else "", _value(body)
            )
            with self._lock:
                self._requests.append(recorded)
        path = handler.path
        if handler.command != "GET" and not parts.path.startswith(_REVIEWS):
            path += ("&" if parts.query else "?") + "dryRun=All"
            if handler.command == "DELETE" and body:  # then the server does not look at the query
                options = _value(body)
                options = options if isinstance(options, dict) else {}  # protobuf
                body = json.dumps({**options, "dryRun": ["All"]}).encode()
                del handler.headers["Content-Type"]
                handler.headers["Content-Type"] = "application/json"
        connection = self._asked(handler, path, body)
        try:
            _pass_on(connection.getresponse(), handler)
        except OSError:  # the one side or the other has gone
            handler.close_connection = True
        finally:
            connection.close()

    def _asked(self, handler: BaseHTTPRequestHandler, path: str, body: bytes) -> http.client.HTTPSConnection:
        left_out = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding")
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in left_out}
        headers["Authorization"] = f"Bearer {self._token}"
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=context, timeout=30)
        connection.request(handler.command, path, body or None, headers)
        return connection


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    if handler.headers.get("Transfer-Encoding") != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    body = b""
    while size := int(handler.rfile.readline(), 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
    return body


def _pass_on(answer: http.client.HTTPResponse, handler: BaseHTTPRequestHandler) -> None:
    """Pass an answer on; one that comes in pieces, as a watch does, piece by piece."""
    handler.send_response(answer.status)
    for name, value in answer.getheaders():
        if name.lower() not in ("connection", "transfer-encoding", "content-length", "date"):
            handler.send_header(name, value)
    if not answer.chunked:
        whole = answer.read()
        handler.send_header("Content-Length", str(len(whole)))
        handler.end_headers()
        handler.wfile.write(whole)
        return
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    while piece := answer.read1():
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")


def _value(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")


@contextmanager
def proxies(port: int, token: str, count: int) -> Iterator[list[RecordingProxy]]:
    """Yield some proxies before one server."""
    made = [RecordingProxy(port, token) for _ in range(count)]
    try:
        yield made
    finally:
        for proxy in made:
            proxy.close()
