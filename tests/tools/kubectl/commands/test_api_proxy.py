"""kubectl proxy: what passes to the API server, and what does not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.tools.kubectl.commands import _api_proxy, _static_files
from tests.lib.http import malformed_requests

FLAGS = {
    "accept_hosts": r"^localhost$,^127\.0\.0\.1$,^\[::1\]$,^a$",
    "accept_paths": "^.*",
    "api_prefix": "/",
    "append_server_path": True,
    "disable_filter": False,
    "reject_methods": "^$",
    "reject_paths": "^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach",
    "www": "",
    "www_prefix": "/static/",
}


@asynccontextmanager
async def proxying(**flags: Any) -> AsyncIterator[int]:
    """Yield a proxy to a server that says what it was asked."""

    def answer(request: Request) -> Response:
        if request.path == "/at/switch":
            return Response(b"", 101)
        text = f"{request.method} {request.path}?{request.query_text} {request.header(b'authorization')} "
        return Response(text.encode() + request.body, 202, b"text/x", ((b"X-Server", b"here"),))

    server = Server(answer)
    port = await server.start("127.0.0.1", 0)
    access = SimpleNamespace(
        scheme="http",
        host="127.0.0.1",
        port=port,
        host_header=f"127.0.0.1:{port}",
        prefix="/at",
        server_name="",
    )
    client: Any = SimpleNamespace(
        access=access, headers=lambda kept: {**kept, "Authorization": "Bearer mine"}
    )
    sock = socket.create_server(("127.0.0.1", 0))
    task = asyncio.create_task(_api_proxy.serve(sock, client, SimpleNamespace(**FLAGS | flags)))  # type: ignore[arg-type]
    try:
        yield sock.getsockname()[1]
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await server.stop()


async def ask(port: int, request: bytes, host: bytes = b"127.0.0.1") -> tuple[bytes, bytes]:
    """Return the head and the body of an answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    line, _, rest = request.partition(b"\r\n")
    writer.write(line + b"\r\nHost: " + host + b"\r\nConnection: close\r\n" + rest)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return head, body


async def test_requests_pass_with_our_credentials() -> None:
    async with proxying() as port:
        head, body = await ask(port, b"GET /api/v1?a=b HTTP/1.1\r\nAuthorization:\r\n\r\n")
        assert (
            head.startswith(b"HTTP/1.1 202 ")
            and b"Content-Type: text/x" in head
            and b"X-Server: here" in head
        )
        assert b"GET /at/api/v1?a=b Bearer mine" in body
        chunked = b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        assert b"POST /at/x? Bearer mine ok" in (await ask(port, chunked))[1]


async def test_a_client_that_says_who_it_is_is_believed() -> None:
    async with proxying() as port:
        body = (await ask(port, b"GET /api HTTP/1.1\r\nAuthorization: Bearer theirs\r\n\r\n"))[1]
        assert b"Bearer theirs" in body and b"mine" not in body


@pytest.mark.parametrize(
    ("request_", "host"),
    [
        (b"GET /api/v1/namespaces/a/pods/b/exec HTTP/1.1\r\n\r\n", b"localhost"),
        (b"GET /api/v1/namespaces/a/pods/b/%65xec HTTP/1.1\r\n\r\n", b"localhost"),
        (b"GET /api/v1/namespaces/a/pods/b%2Fexec HTTP/1.1\r\n\r\n", b"localhost"),
        (b"GET /api/v1/namespaces/a/pods%2Fb/attach HTTP/1.1\r\n\r\n", b"localhost"),
        (b"GET /api/v1/namespaces/a/pods/b/exec HTTP/1.1\r\nX-Original-URL: /api\r\n\r\n", b"localhost"),
        (b"GET /api HTTP/1.1\r\n\r\n", b"elsewhere.example"),
        (b"GET /api HTTP/1.1\r\n\r\n", b"localhost.elsewhere.example"),
        (b"GET /api HTTP/1.1\r\n\r\n", b"localhost@elsewhere.example"),
        (b"GET /api HTTP/1.1\r\nX-Forwarded-Host: localhost\r\n\r\n", b"elsewhere.example:8001"),
    ],
)
async def test_what_does_not_pass(request_: bytes, host: bytes) -> None:
    """CVE-2018-1002103: a web page that names this machine by another name reaches nothing."""
    async with proxying() as port:
        head, body = await ask(port, request_, host)
        assert head.startswith(b"HTTP/1.1 403 ") and body == b"Forbidden\n"


async def test_files(tmp_path: Path) -> None:
    folder = tmp_path / "www"
    folder.mkdir()
    (folder / "page.html").write_text("a page")
    (tmp_path / "www-secret").write_text("not for you")
    async with proxying(www=str(folder)) as port:
        head, body = await ask(port, b"GET /static/page.html HTTP/1.1\r\n\r\n")
        assert b"Content-Type: text/html; charset=utf-8" in head and body == b"a page"
        assert b'<a href="page.html">page.html</a>' in (await ask(port, b"GET /static/ HTTP/1.1\r\n\r\n"))[1]
        for path in (b"/static/../www-secret", b"/static/%2e%2e/www-secret"):
            assert b"Location: /www-secret" in (await ask(port, b"GET " + path + b" HTTP/1.1\r\n\r\n"))[0]
        assert (await ask(port, b"GET /static/none HTTP/1.1\r\n\r\n"))[0].startswith(b"HTTP/1.1 404")
    for name in ("../www-secret", "a/../../www-secret", "\0", "page.html\0"):
        assert _static_files.static_file(str(folder), name).status == 404


async def test_malformed_requests() -> None:
    async with proxying() as port:
        await malformed_requests.check(port)


async def test_a_server_takes_over_no_connection_unasked() -> None:
    async with proxying() as port:
        head, body = await ask(port, b"GET /switch HTTP/1.1\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 502 ") and body == b"the server switched protocols unasked\n"


@pytest.mark.parametrize(
    ("target", "prefix", "wanted"),
    [
        ("/x%2Fy?a=%2F", "/", "/x%2Fy"),  # an escaped slash is no plain one to the server
        ("/custom/x%2Fy", "/custom/", "/x%2Fy"),
        ("/cust%6Fm/x", "/custom/", ""),
        ("/api/v1/x%20y", "/api/", "/api/v1/x%20y"),
    ],
)
def test_paths_go_on_as_they_came(target: str, prefix: str, wanted: str) -> None:
    connection: Any = SimpleNamespace(target=target.encode())
    request = _api_proxy._Request(connection, "GET", "/", "", {}, b"")
    assert _api_proxy._as_it_came(request, prefix) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a.css", "text/css; charset=utf-8"),
        ("a.XML", "text/xml; charset=utf-8"),
        ("a.tar.gz", "application/gzip"),
        ("a.svg", "image/svg+xml"),
        ("plain", "text/plain; charset=utf-8"),
    ],
)
def test_types_of_files(name: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x")
    assert _static_files.static_file(str(tmp_path), name).content_type == wanted.encode()


def test_an_index_has_the_address_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("x")
    answer = _static_files.static_file(str(tmp_path), "index.html")
    assert (answer.status, dict(answer.headers)) == (301, {b"Location": b"./"})
    assert _static_files.static_file(str(tmp_path), "").body == b"x"
