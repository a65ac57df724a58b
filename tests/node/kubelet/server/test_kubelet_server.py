"""The kubelet's server: who gets what on which port, and requests that nobody gets anything for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.config import merged
from pybernetes.node.kubelet.options import Options
from pybernetes.node.kubelet.server.kubelet_server import KubeletServer
from tests.lib.http import malformed_requests


def kubelet(**settings: Any) -> Any:
    """Return what the server needs of a kubelet that has no pods."""
    configuration = merged({"authorization": {"mode": "AlwaysAllow"}, **settings})
    ready = asyncio.Event()
    ready.set()
    options = Options("node", configuration=configuration)
    return SimpleNamespace(
        options=options,
        client=None,
        clock=ManualClock(),
        ready=ready,
        workers={},
        statuses={},
        find=lambda *names: None,
    )


@asynccontextmanager
async def serving(port: str, **settings: Any) -> AsyncIterator[int]:
    """Yield one of the ports without TLS, on a free number."""
    server = KubeletServer(kubelet(**settings))
    listening = {"health": server._health, "read-only": server._open, "main": server._server}[port]
    try:
        yield await listening.start("127.0.0.1", 0)
    finally:
        await server.stop()


async def ask(port: int, path: str, method: str = "GET", headers: str = "") -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body


@pytest.mark.parametrize(
    ("port", "method", "path", "status"),
    [
        ("health", "GET", "/healthz", 200),
        ("health", "GET", "/pods", 404),
        ("health", "GET", "/debug/pprof/", 404),
        ("health", "GET", "/configz", 404),
        ("read-only", "GET", "/pods", 200),
        ("read-only", "POST", "/pods", 404),
        ("read-only", "GET", "/configz", 404),
        ("read-only", "POST", "/checkpoint/default/pod/container", 404),
        ("read-only", "GET", "/debug/pprof/heap", 404),
        ("read-only", "GET", "/run/default/pod/container", 404),
        ("read-only", "GET", "/exec/default/pod/container", 404),
        ("main", "GET", "/pods", 200),
        ("main", "GET", "/nothing", 404),
        ("main", "GET", "/containerLogs/default/pod/container", 404),
        ("main", "POST", "/exec/default/pod/container", 404),
    ],
)
async def test_who_gets_what(port: str, method: str, path: str, status: int) -> None:
    """CVE-2019-11248, CVE-2025-0426, CVE-2015-7528: no profiles on the health port, no checkpoints on the read-only one,
    no logs of containers that a pod does not have."""
    anonymous = {"authentication": {"anonymous": {"enabled": True}}}
    async with serving(port, **anonymous) as number:
        assert (await ask(number, path, method))[0] == status


async def test_nobody_gets_in_without_credentials() -> None:
    async with serving("main", authentication={"anonymous": {"enabled": False}}) as port:
        assert await ask(port, "/pods") == (401, b"Unauthorized")
        assert await ask(port, "/pods", headers="Authorization: Bearer x\r\n") == (401, b"Unauthorized")


async def test_pods() -> None:
    async with serving("read-only") as port:
        status, body = await ask(port, "/pods")
        assert (status, json.loads(body)["items"]) == (200, [])


async def test_the_body_of_a_request_is_not_the_next_one() -> None:
    """A server that does not know chunks would read the chunk as a request of its own."""
    async with serving("read-only") as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        inner = b"GET /pods HTTP/1.1\r\nHost: a\r\n\r\n"
        head = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner))
        answer = await reader.read()
        writer.close()
        assert answer.count(b"HTTP/1.1 ") == 1 and answer.endswith(b"ok")


async def test_malformed_requests() -> None:
    """CVE-2020-8551: the node's ports have the API server's bounds."""
    async with serving("main") as port:
        await malformed_requests.check(port)
