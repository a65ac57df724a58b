"""Names that others chose hold up nobody else, and lead nowhere without the right certificate."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.network import names
from pybernetes.lib.network.names import Names
from pybernetes.lib.tls import tls


class Resolver:
    """A resolver that lies, and that never answers for some names."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.asked: list[str] = []
        self.answers: dict[str, list[str]] = {}

    def __call__(self, host: str, *_: Any, **__: Any) -> list[Any]:
        self.asked.append(host)
        if host.startswith("slow"):
            self.free.wait(60)
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in self.answers[host]]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    fake = Resolver()
    monkeypatch.setattr(names.socket, "getaddrinfo", fake)
    yield fake
    fake.free.set()


async def test_a_name_that_nobody_answers_for_takes_one_thread(resolver: Resolver) -> None:
    """A probe asked for it every second, and every question waited in a thread until all of them did."""
    lookups, resolver.answers["quick"] = Names(threads=2), ["192.0.2.7", "192.0.2.7"]
    for _ in range(20):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await lookups.lookup("slow.example")
    async with asyncio.timeout(30):
        assert await lookups.lookup("quick") == ["192.0.2.7"]
    assert resolver.asked == ["slow.example", "quick"]
    resolver.answers["slow.example"] = ["192.0.2.8"]
    resolver.free.set()
    assert await lookups.lookup("slow.example") == ["192.0.2.8"]


@pytest.mark.parametrize("host", ["none.example", "a" * 64 + ".example", ".", "\udcff"])
async def test_what_is_no_name_is_an_error_of_the_network(host: str) -> None:
    with pytest.raises(OSError):
        await Names(1).lookup(host if host != "none.example" else "none.invalid")


@pytest.mark.parametrize(
    ("host", "address"), [("127.0.0.1", True), ("::1", True), ("fe80::1%lo", True), ("1.2.3", False), ("x", False), ("", False)]
)  # fmt: skip
def test_addresses_are_not_looked_up(host: str, address: bool) -> None:
    assert names.is_address(host) is address


async def test_a_lie_leads_to_nobody_without_the_names_certificate(
    resolver: Resolver, tmp_path: Path
) -> None:
    """What is dialled is an address that was looked up once; what is verified is the name."""
    certificate, key, authority = tls.ensure_serving(tmp_path, ["right.example"])
    server = await asyncio.start_server(
        lambda reader, writer: None, "127.0.0.1", 0, ssl=tls.server_context(certificate, key)
    )
    port = server.sockets[0].getsockname()[1]
    # The first of the addresses refuses, as one of two machines behind a name may.
    resolver.answers = {"right.example": ["127.0.0.2", "127.0.0.1"], "other.example": ["127.0.0.1"]}
    context, dial = ssl.create_default_context(cafile=str(authority)), Dialer(Names(1))
    connection = await dial(asyncio.Protocol, "right.example", port, context=context)
    assert connection is not None
    with pytest.raises(ssl.SSLCertVerificationError):
        await dial(asyncio.Protocol, "other.example", port, context=context)
    with pytest.raises(OSError):
        await dial(asyncio.Protocol, "nowhere.example", port, context=context)
    assert resolver.asked == ["right.example", "other.example", "nowhere.example"]
    server.close()
