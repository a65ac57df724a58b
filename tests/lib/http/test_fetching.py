"""Whole addresses: where they are, and where they lead to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import fetch, located
from pybernetes.lib.tls import tls
from tests.loopback_server import JsonHandler, loopback_server, served

_CONTEXT = tls.client_context()


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("http://a", "a", 80, "/"),
        ("https://a/b?c=d", "a", 443, "/b?c=d"),
        ("https://a:1/?", "a", 1, "/"),
        ("http://[::1]:8/x#y", "::1", 8, "/x"),
    ],
)
def test_where_an_address_is(url: str, host: str, port: int, path: str) -> None:
    peer, there = located(url, _CONTEXT)
    assert (peer.host, peer.port, there) == (host, port, path)
    assert peer.context is (_CONTEXT if url.startswith("https") else None)


@pytest.mark.parametrize(
    "url", ["", "a", "ftp://a/", "file:///etc/passwd", "http://", "http://a:x/", "http://a/b c"]
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError):
        located(url)


@given(st.text())
def test_nothing_but_value_errors(text: str) -> None:
    try:
        _, path = located(f"https://a/{text}", _CONTEXT)
    except ValueError:
        return
    assert path.isascii() and not set(path) & set("\r\n ")


class _Leading(JsonHandler):
    asked: list[tuple[str, str | None, str | None]] = []
    elsewhere = ""

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization"), self.headers.get("X-Kept")))
        where = {
            "/near": "/end",
            "/far": f"{self.elsewhere}/end",
            "/round": "/round",
            "/out": "file:///etc/passwd",
        }
        if self.path in where:
            self.reply(b"", 302, {"Location": where[self.path]})
        else:
            self.reply(b"here")


@pytest.fixture
def addresses() -> Iterator[tuple[str, str]]:
    servers = loopback_server(_Leading), loopback_server(_Leading)
    with served(servers[0]), served(servers[1]):
        first, second = (f"http://127.0.0.1:{server.server_port}" for server in servers)
        _Leading.asked, _Leading.elsewhere = [], second
        yield first, second


@pytest.mark.parametrize(("path", "secret"), [("/near", "s"), ("/far", None)])
async def test_redirects_are_followed_without_secrets_for_others(
    addresses: tuple[str, str], path: str, secret: str | None
) -> None:
    client = HttpClient()
    reply = await fetch(client, addresses[0] + path, {"Authorization": "s", "X-Kept": "k"}, 60)
    client.close()
    assert (reply.status, reply.body) == (200, b"here")
    assert _Leading.asked == [(path, "s", "k"), ("/end", secret, "k")]


@pytest.mark.parametrize(("path", "error"), [("/round", RequestFailed), ("/out", ValueError)])
async def test_redirects_that_lead_nowhere(
    addresses: tuple[str, str], path: str, error: type[Exception]
) -> None:
    client = HttpClient()
    with pytest.raises(error):
        await fetch(client, addresses[0] + path, {}, 60)
    client.close()
    assert len(_Leading.asked) <= 11
