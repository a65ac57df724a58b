"""Addresses that users write: what is none does not become a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.tools.kubectl.addresses import raw_path, server_parts
from pybernetes.tools.kubectl.errors import CommandError


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/api", "/api"),
        ("/api/v1?a=b&c=d%20e", "/api/v1?a=b&c=d%20e"),
        ("//x/api", "//x/api"),
        ("http://x/api?y", "/api?y"),
        ("/a b?c d", "/a%20b?c%20d"),
        ("/ä%2Fx", "/%C3%A4%2Fx"),
    ],
)
def test_raw_paths(text: str, path: str) -> None:
    assert raw_path(text) == path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("api", "invalid URI for request"),
        ("", "invalid URI for request"),
        ("/a%zz", 'invalid URL escape "%zz"'),
        ("/a%2", 'invalid URL escape "%2"'),
        ("/api HTTP/1.1\r\nX: y", "net/url: invalid control character in URL"),
        ("/api\n", "net/url: invalid control character in URL"),
    ],
)
def test_what_is_no_raw_path(text: str, reason: str) -> None:
    with pytest.raises(CommandError) as caught:
        raw_path(text)
    assert caught.value.message.startswith("--raw must be a valid URL path: parse ")
    assert caught.value.message.endswith(reason)


@given(st.text())
def test_a_raw_path_is_one_word(text: str) -> None:
    try:
        path = raw_path(text)
    except CommandError:
        return
    assert path.isascii() and path.isprintable() and " " not in path and path.startswith("/")


@pytest.mark.parametrize(
    ("server", "parts"),
    [
        ("https://h:6443", ("https", "", "h:6443", "")),
        ("HTTPS://h/a/", ("https", "", "h", "/a")),
        ("h:8080", ("http", "", "h:8080", "")),
        ("h", ("http", "", "h", "")),
        ("http://[::1]:80/a?b#c", ("http", "", "[::1]:80", "/a")),
        ("https://u:p@h", ("https", "u:p", "h", "")),
        ("https://h/a b", ("https", "", "h", "/a%20b")),
        ("https://h?x/y", ("https", "", "h", "")),
    ],
)
def test_servers(server: str, parts: tuple[str, ...]) -> None:
    assert server_parts(server) == parts


@pytest.mark.parametrize(
    "server",
    ["", "https://", "https://h x", "https://h\r\nX: y", "https://[::1:80", "https://h:x", "h/path", "https://h%41"],
)  # fmt: skip
def test_what_is_no_server(server: str) -> None:
    with pytest.raises(CommandError, match="host must be a URL or a host:port pair"):
        server_parts(server)
