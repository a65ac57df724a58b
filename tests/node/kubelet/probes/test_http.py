"""Requests to containers: redirects, what is sent, and servers that somebody wrote by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from pybernetes.node.kubelet.probes import http


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Yield a server that gives one answer to each connection and closes it; yields its address and what it was sent."""
    left, requests = list(answers), list[bytes]()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(left.pop(0))
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests
    finally:
        server.close()


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, b"ok"),
        (b"HTTP/1.0 503 No\r\n\r\nill", 503, b"ill"),
        (b"HTTP/1.1 200 OK\n\nby hand", 200, b"by hand"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", 200, b"cut"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 20_000, 200, b"x" * 10_240),
    ],
)
async def test_answers(answer: bytes, status: int, body: bytes) -> None:
    async with answering(answer) as (address, _):
        assert await http.get(f"{address}/healthz", []) == http.Answer(status, body)


async def test_redirects_to_the_same_host_are_followed() -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: /there?a=b\r\nContent-Length: 0\r\n\r\n"
    async with answering(moved, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (address, requests):
        assert (await http.get(f"{address}/here", [])).status == 200
        assert requests[1].startswith(b"GET /there?a=b HTTP/1.1\r\n")
    elsewhere = b"HTTP/1.1 302 Found\r\nLocation: http://other.example/\r\nContent-Length: 2\r\n\r\ngo"
    async with answering(elsewhere) as (address, _):
        assert await http.get(address, []) == http.Answer(302, b"go", True)
    async with answering(*[moved] * 10) as (address, _):
        with pytest.raises(OSError, match="stopped after 10 redirects"):
            await http.get(address, [])


async def test_what_is_sent() -> None:
    async with answering(*[b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"] * 2) as (address, requests):
        await http.get(f"{address}/", [("Host", "named"), ("Accept", ""), ("X-Own", "a")], "agent/1")
        await http.get(address, [])
    assert (
        b"Host: named\r\n" in requests[0] and b"Accept" not in requests[0] and b"X-Own: a\r\n" in requests[0]
    )
    assert b"User-Agent: agent/1\r\n" in requests[0]
    assert b"Accept: */*\r\n" in requests[1] and b"User-Agent: kube-probe/1." in requests[1]


async def test_why_there_is_no_answer() -> None:
    async with answering(b"", b"garbage\r\n\r\n") as (address, _):
        for _ in range(2):
            with pytest.raises(OSError, match="EOF"):
                await http.get(address, [])
        with pytest.raises(OSError, match="invalid header"):
            await http.get(address, [("A", "b\r\nC: d")])
    with pytest.raises(OSError, match="connection refused"):
        await http.get(address, [])


@pytest.mark.parametrize(
    "location",
    ["http://127.0.0.1:99999/", "http://[", "http://127.0.0.1:x/", "//127.0.0.1:0x50/"],
)
async def test_redirects_to_nowhere(location: str) -> None:
    """What a container answers with never is an error of ours: a hook must not keep its pod from being stopped."""
    moved = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
    async with answering(moved) as (address, _):
        with pytest.raises(OSError, match=r"^Get "):
            await http.get(address, [])


@pytest.mark.parametrize("host", ["[x", "", f"{'a' * 70}.example", "a\u2100b"])
async def test_hosts_that_are_none(host: str) -> None:
    with pytest.raises(OSError, match=r"^Get "):
        await http.get(f"http://{host}:80/", [])
