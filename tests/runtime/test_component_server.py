"""Health, metrics, and who may see them."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import ManualClock
from pybernetes.runtime.component_server import Asked, Checks, ComponentServer, Page
from pybernetes.runtime.delegated_auth import DelegatedAuth, FrontProxy


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

    async def later(asked: Asked) -> Page:
        await asyncio.sleep(0)
        return Page(asked.query.encode())

    def broken(asked: Asked) -> Page:
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


class Reviews:
    """Answers reviews: the token "good" is jane, who may see /metrics."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def create(self, kind: Any, obj: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(kind.kind)
        if kind == TOKEN_REVIEWS:
            known = obj["spec"]["token"] == "good"
            return {"status": {"authenticated": known, "user": {"username": "jane", "groups": ["g"]}}}
        assert kind == SUBJECT_ACCESS_REVIEWS
        spec = obj["spec"]
        allowed = (
            spec["user"] in ("jane", "prometheus") and spec["nonResourceAttributes"]["path"] == "/metrics"
        )
        return {"status": {"allowed": allowed}}


CERTIFICATE = {"subject": ((("organizationName", "monitoring"),), (("commonName", "prometheus"),))}


@pytest.mark.parametrize(
    ("path", "headers", "certificate", "status"),
    [
        ("/healthz", {}, None, None),
        ("/healthz/ping", {}, None, None),
        ("/healthzzz", {}, None, 403),
        ("/metrics", {}, None, 403),
        ("/metrics", {"authorization": "Bearer good"}, None, None),
        ("/metrics", {"authorization": "Bearer bad"}, None, 401),
        ("/metrics", {"authorization": "Basic abc"}, None, 401),
        ("/debug", {"authorization": "Bearer good"}, None, 403),
        ("/metrics", {}, CERTIFICATE, None),
    ],
)
async def test_the_gate(path: str, headers: dict[str, str], certificate: Any, status: int | None) -> None:
    gate = DelegatedAuth(Reviews())  # type: ignore[arg-type]
    page = await gate(Asked(path, "", headers, certificate))
    assert (page.status if page else None) == status


@pytest.mark.parametrize(
    ("vouched_by", "names", "headers", "status"),
    [
        ("clients", (), {"x-remote-user": "nobody"}, None),  # is prometheus, whatever it says
        ("proxies", (), {"x-remote-user": "jane", "x-remote-group": "g"}, None),
        ("proxies", (), {"x-remote-user": "nobody"}, 403),
        ("proxies", (), {}, 401),
        ("proxies", ("prometheus",), {"x-remote-user": "jane"}, None),
        ("proxies", ("other",), {"x-remote-user": "jane"}, 401),
        ("others", (), {"x-remote-user": "jane"}, 401),
        ("others", (), {"authorization": "Bearer good"}, None),
    ],
)
async def test_front_proxies(
    vouched_by: str, names: tuple[str, ...], headers: dict[str, str], status: int | None
) -> None:
    clients, proxies = (SimpleNamespace(fingerprints={name}) for name in ("clients", "proxies"))
    proxy = FrontProxy(proxies, names)  # type: ignore[arg-type]
    gate = DelegatedAuth(Reviews(), clients=clients, proxy=proxy)  # type: ignore[arg-type]
    repeated = {name: [value] for name, value in headers.items()}
    chain: Any = frozenset([vouched_by])
    page = await gate(Asked("/metrics", "", headers, CERTIFICATE, chain, repeated))
    assert (page.status if page else None) == status


async def test_answers_are_kept_for_a_moment() -> None:
    clock, reviews = ManualClock(), Reviews()
    gate = DelegatedAuth(reviews, clock=clock)  # type: ignore[arg-type]
    asked = Asked("/metrics", "", {"authorization": "Bearer good"}, None)
    for _ in range(3):
        assert await gate(asked) is None
    assert reviews.calls == ["TokenReview", "SubjectAccessReview"]
    await clock.advance(11)
    assert await gate(asked) is None
    assert len(reviews.calls) == 4
