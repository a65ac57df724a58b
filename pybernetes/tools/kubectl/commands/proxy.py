"""proxy: serves the API on this machine, with our credentials."""

from __future__ import annotations

import os
import re
import socket
import threading
from typing import Any

from pybernetes.tools.kubectl.connection.http import Connection
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "Run a proxy to the Kubernetes API server"
USAGE = "proxy [--port=PORT] [--www=static-dir] [--www-prefix=prefix] [--api-prefix=prefix]"
FLAGS = ("""
- accept-hosts string ^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$ | hosts that requests may name
- accept-paths string ^.* | paths that may be asked for
- address string 127.0.0.1 | address to serve on
- api-prefix string / | path under which the API is served
- append-server-path bool false | append the path of the server's address
- disable-filter bool false | let every request pass; this is dangerous
- keepalive duration 0s | how often connections are probed
p port int 8001 | port to serve on; 0 is a free one
- reject-methods string ^$ | methods that are refused
- reject-paths string ^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach | paths that are refused
u unix-socket string | socket to serve on
w www string | directory of files to serve
P www-prefix string /static/ | path under which the files are served
""",)  # fmt: skip
_HOP = {"connection", "keep-alive", "transfer-encoding", "host", "content-length", "authorization", "upgrade"}


def run(context: Context) -> None:
    """Serve until interrupted."""
    flags = context.flags
    if flags.port and flags.unix_socket and "port" in flags.changed:
        raise CommandError("cannot set --unix-socket and --port at the same time")
    if flags.www and not os.path.isdir(flags.www):
        context.warn(
            f"Failed to stat static file directory {flags.www}: stat {flags.www}: no such file or directory"
        )
    if flags.unix_socket:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if os.path.exists(flags.unix_socket):
            os.unlink(flags.unix_socket)
        address: Any = flags.unix_socket
    else:
        server = socket.socket(
            socket.AF_INET6 if ":" in flags.address else socket.AF_INET, socket.SOCK_STREAM
        )
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if flags.port > 65535:
            raise CommandError(f"listen tcp: address {flags.port}: invalid port")
        address = (flags.address, flags.port)
    try:
        server.bind(address)
        server.listen(64)
    except OSError as error:
        raise CommandError(
            f"listen tcp {flags.address}:{flags.port}: bind: {(error.strerror or '').lower()}"
        ) from None
    name = server.getsockname()
    context.out(f"Starting to serve on {name if isinstance(name, str) else f'{name[0]}:{name[1]}'}")
    context.stdout.flush()
    _ = context.client  # complain now if the configuration is wrong
    while True:
        connection, _peer = server.accept()
        threading.Thread(target=_Client(context, connection).serve, daemon=True).start()


class _Client:
    """One connection to the proxy."""

    def __init__(self, context: Context, connection: socket.socket) -> None:
        self._context, self._connection = context, connection
        self._file = connection.makefile("rb")

    def serve(self) -> None:
        """Answer requests until the client goes."""
        try:
            while self._one():
                pass
        except (OSError, CommandError, ValueError):
            pass
        self._connection.close()

    def _one(self) -> bool:
        line = self._file.readline().decode("latin-1").strip()
        if not line:
            return False
        method, path, _ = line.split(" ", 2)
        headers: list[tuple[str, str]] = []
        while text := self._file.readline().decode("latin-1").strip():
            key, _, value = text.partition(":")
            headers.append((key, value.strip()))
        known = {key.lower(): value for key, value in headers}
        body = self._file.read(int(known.get("content-length") or 0)) or None
        flags = self._context.flags
        if not flags.disable_filter and not _allowed(flags, method, path, known.get("host", "")):
            self._answer(403, "Forbidden", b"<h3>Unauthorized</h3>")
            return True
        if flags.www and path.startswith(flags.www_prefix):
            self._static(path[len(flags.www_prefix) :])
            return True
        self._forward(method, path, headers, body)
        return known.get("connection", "").lower() != "close"

    def _forward(self, method: str, path: str, headers: list[tuple[str, str]], body: bytes | None) -> None:
        prefix = self._context.flags.api_prefix.rstrip("/")
        if prefix and path.startswith(prefix):
            path = path[len(prefix) :] or "/"
        kept: dict[str, Any] = {}
        for key, value in headers:
            if key.lower() not in _HOP:
                kept.setdefault(key, []).append(value)
        upstream = Connection(self._context.client.access, None)
        response = upstream.send(method, path, self._context.client.headers(kept), body)
        lines = [f"HTTP/1.1 {response.status} {'OK' if response.status < 400 else 'Error'}"]
        lines += [f"{key}: {value}" for key, value in response.headers.items() if key not in _HOP]
        lines.append("Transfer-Encoding: chunked")
        self._connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        if method != "HEAD":
            for piece in response.pieces():
                self._connection.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self._connection.sendall(b"0\r\n\r\n")
        upstream.close()

    def _static(self, name: str) -> None:
        root = os.path.realpath(self._context.flags.www)
        path = os.path.realpath(os.path.join(root, name.partition("?")[0].lstrip("/")))
        if not path.startswith(root) or not os.path.isfile(path):
            self._answer(404, "Not Found", b"404 page not found\n")
            return
        with open(path, "rb") as file:
            self._answer(200, "OK", file.read())

    def _answer(self, code: int, words: str, body: bytes) -> None:
        head = f"HTTP/1.1 {code} {words}\r\nContent-Length: {len(body)}\r\n\r\n"
        self._connection.sendall(head.encode() + body)


def _allowed(flags: Any, method: str, path: str, host: str) -> bool:
    def matches(patterns: str, text: str) -> bool:
        return any(re.search(pattern, text) for pattern in patterns.split(",") if pattern)

    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return (
        matches(flags.accept_hosts, name)
        and matches(flags.accept_paths, path)
        and not matches(flags.reject_paths, path)
        and not matches(flags.reject_methods, method)
    )
