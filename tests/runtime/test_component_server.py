"""Pages of health, and whatever else a component shows."""

from __future__ import annotations

import asyncio

from pybernetes.lib.http.messages import Request, Response
from pybernetes.runtime.component_server import Checks, ComponentServer, profiles, text
from tests.lib.http import malformed_requests


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    body = await reader.readexactly(length) if not request.startswith(b"HEAD") else b""
    writer.close()
    return head.split(b"\r\n")[0] + b" " + body


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


async def test_pages() -> None:
    checks = Checks()
    problem: list[str] = []
    checks.add("well", lambda: problem[0] if problem else None)

    async def later(request: Request) -> Response:
        await asyncio.sleep(0)
        return text(request.query_text.encode())

    def broken(request: Request) -> Response:
        raise RuntimeError("broken")

    server = ComponentServer({"/healthz": checks.page, "/later": later, "/broken": broken})
    port = await server.start("127.0.0.1", 0)
    assert await ask(port, get("/healthz")) == b"HTTP/1.1 200 OK ok"
    assert await ask(port, get("/healthz/well")) == b"HTTP/1.1 200 OK ok"
    verbose = await ask(port, get("/healthz?verbose"))
    assert verbose.endswith(b"[+]ping ok\n[+]well ok\nhealthz check passed\n")
    problem.append("ill")
    failed = await ask(port, get("/healthz"))
    assert failed.startswith(b"HTTP/1.1 500") and b"[-]well failed: ill" in failed
    assert (await ask(port, get("/healthz/nothing"))).startswith(b"HTTP/1.1 404")
    assert (await ask(port, get("/nothing"))).startswith(b"HTTP/1.1 404")
    assert await ask(port, get("/later?a=b")) == b"HTTP/1.1 200 OK a=b"
    assert b"RuntimeError: broken" in await ask(port, get("/broken"))
    assert (await ask(port, b"POST /healthz HTTP/1.1\r\nHost: x\r\n\r\n")).startswith(b"HTTP/1.1 405")
    assert (await ask(port, b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")).startswith(b"HTTP/1.1 500")
    await server.stop()


async def test_malformed_requests() -> None:
    server = ComponentServer({"/healthz": Checks().page})
    await malformed_requests.check(await server.start("127.0.0.1", 0))
    await server.stop()


async def test_profiles() -> None:
    server = ComponentServer(profiles())
    port = await server.start("127.0.0.1", 0)

    async def page(path: str) -> bytes:
        return await ask(port, f"GET /debug/{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    try:
        assert b"goroutine" in await page("pprof/")
        assert (await page("pprof/goroutine?debug=1")).startswith(b"HTTP/1.1 200 OK tasks: ")
        assert (await page("pprof/profile?seconds=x")).endswith(b"400 Bad Request seconds is no number\n")
        assert b" 404 " in await page("other")
    finally:
        await server.stop()
