"""The keys of a provider that takes its time, and of providers that mean harm."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import orjson
import pytest

from pybernetes.control_plane.apiserver.authn.jwt.key_set import Fetcher, KeySet, Unavailable
from pybernetes.control_plane.apiserver.authn.jwt.settings import JwtSettings, Mapping
from pybernetes.lib.http.client import HttpClient
from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.authn.jwt.openid_provider import providing


async def test_a_provider_that_is_slow(tmp_path: Path) -> None:
    """Whoever waits for its keys is told when its time is over; later it is asked again, once for all who wait."""
    now = 0.0
    https = HttpClient()
    with providing(tmp_path) as provider:
        provider.waits = threading.Event()
        settings = JwtSettings(provider.url, ("a",), Mapping(), authority=provider.authority.read_text())
        keys = KeySet(settings, Fetcher(settings, https, seconds=0.2), lambda: now)
        waiting = [keys.find("first", "RS256") for _ in range(3)]
        for result in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(result, Unavailable) and "is not healthy" in str(result)
        assert len(provider.calls) <= 1, "all wait for one question"
        provider.waits.set()
        with pytest.raises(Unavailable):
            await keys.find("first", "RS256")  # it was asked just now
        now = 10.0
        patient = KeySet(settings, Fetcher(settings, https, seconds=60.0), lambda: now)
        assert len(await patient.find("first", "RS256")) == 1
    https.close()


ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
OCTETS = {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "first", "alg": "HS256"}


class HostileProvider:
    """A provider that answers with any bytes: those of ``answers`` by path, and ``more`` again and again."""

    def __init__(self, folder: Path) -> None:
        authority = tls.ensure_authority(folder, "ca", "ca")
        self.authority = authority[0].read_text()
        pair = tls.issue(
            tls.Pair(*(file.read_bytes() for file in authority)), "p", names=["127.0.0.1"], server=True
        )
        (folder / "p.pem").write_bytes(pair.certificate + pair.key)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(folder / "p.pem")
        self.answers: dict[str, bytes] = {}
        self.more = b""
        self.asked: list[str] = []
        self.sent = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
            self.asked.append(path)
            writer.write(self.answers[path])
            while self.more:
                writer.write(self.more)
                await writer.drain()
                self.sent += len(self.more)
                await asyncio.sleep(0)
        writer.close()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve; give the address."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        try:
            yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()


def answer(value: object) -> bytes:
    body = orjson.dumps(value)
    return JSON % (len(body), body)


@pytest.mark.parametrize(
    ("trick", "problem"),
    [
        ("redirect", "answered with status 302"),
        ("another issuer", "issuer did not match the issuer returned by provider"),
        ("another path", "issuer did not match the issuer returned by provider"),
        ("keys without TLS", "provider did not return JWKS URL"),
        ("keys of nobody", "Get "),
        ("endless", "Get "),
        ("drops", "context deadline exceeded"),
        ("packed", "/.well-known/openid-configuration: "),
        ("too many", "has no list of keys"),
        ("secrets", ""),
    ],
)
async def test_hostile_providers(tmp_path: Path, trick: str, problem: str) -> None:
    """None of them has the server believe anybody, follow them elsewhere, or keep what they send."""
    provider, discovery = HostileProvider(tmp_path), "/.well-known/openid-configuration"
    https = HttpClient()
    async with provider.serving() as url:
        good = {"issuer": url, "jwks_uri": f"{url}/keys"}
        documents = {
            "redirect": b"HTTP/1.1 302 Found\r\nLocation: %s/keys\r\nContent-Length: 0\r\n\r\n"
            % url.encode(),
            "another issuer": answer({**good, "issuer": "https://127.0.0.1"}),
            "another path": answer({**good, "issuer": f"{url}/tenant"}),
            "keys without TLS": answer({**good, "jwks_uri": "http://127.0.0.1/keys"}),
            "keys of nobody": answer({**good, "jwks_uri": "https:///keys"}),
            "endless": ENDLESS,
            "drops": ENDLESS,
            "packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",
        }
        provider.answers = {
            discovery: documents.get(trick, answer(good)),
            "/keys": answer({"keys": [OCTETS] * (1 if trick == "secrets" else 501)}),
        }
        if trick in ("endless", "drops"):
            provider.more = b"10000\r\n" + b" " * 65536 + b"\r\n" if trick == "endless" else b"1\r\n \r\n"
        settings = JwtSettings(url, ("a",), Mapping(), authority=provider.authority)
        keys = KeySet(settings, Fetcher(settings, https, seconds=0.5 if trick == "drops" else 60.0))
        with pytest.raises(Unavailable) as failure:
            await keys.find("first", "RS256")
        assert problem in str(failure.value)
        assert provider.sent < 64 << 20
        # On a busy machine, time may be over before the first question.
        led_on = trick in ("too many", "secrets")
        assert provider.asked == [discovery, "/keys"] if led_on else provider.asked in ([], [discovery])
        https.close()
