"""Proxies: which one is used, and how a server is reached through it."""

from __future__ import annotations

import socket
import threading

import pytest

from pybernetes.tools.kubectl.connection.forward_proxy import connect
from pybernetes.tools.kubectl.errors import CommandError, NoConnection
from pybernetes.tools.kubectl.kubeconfig.access import Access, proxy_for


@pytest.mark.parametrize(
    ("server", "given", "environment", "expected"),
    [
        ("https://a.example", "", {}, ""),
        ("https://a.example", "", {"https_proxy": "p:1"}, "http://p:1"),
        ("https://a.example", "", {"HTTPS_PROXY": "http://p:1", "http_proxy": "q"}, "http://p:1"),
        ("http://a.example", "", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("https://a.example", "socks5://s:1", {"HTTPS_PROXY": "p"}, "socks5://s:1"),
        ("https://127.0.0.1:6443", "", {"HTTPS_PROXY": "p"}, ""),
        ("https://localhost", "", {"HTTPS_PROXY": "p"}, ""),
        ("https://a.example", "", {"HTTPS_PROXY": "p", "NO_PROXY": "b.example,example"}, ""),
        ("https://a.example", "", {"HTTPS_PROXY": "p", "NO_PROXY": ".a.example"}, "http://p"),
        ("https://10.1.2.3", "", {"HTTPS_PROXY": "p", "no_proxy": "10.0.0.0/8"}, ""),
        ("https://a.example", "", {"HTTPS_PROXY": "p", "NO_PROXY": "*"}, ""),
    ],
)
def test_which_proxy(server: str, given: str, environment: dict[str, str], expected: str) -> None:
    assert proxy_for(Access(server), given, environment) == expected


def test_a_proxy_of_an_unknown_sort() -> None:
    with pytest.raises(CommandError, match='unsupported scheme "ftp"'):
        proxy_for(Access("https://a"), "ftp://p", {})


def served(*answers: bytes) -> tuple[int, list[bytes]]:
    """Return the port of a server that gives an answer to each piece that it gets, and the pieces."""
    listener = socket.create_server(("127.0.0.1", 0))
    pieces: list[bytes] = []

    def serve() -> None:
        with listener, listener.accept()[0] as connection:
            for answer in answers:
                pieces.append(connection.recv(4096))
                connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1], pieces


def test_a_tunnel() -> None:
    port, pieces = served(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nhello")
    access = Access("https://a.example:6443")
    access.proxy = f"http://me:pass@127.0.0.1:{port}"
    with connect(access, b"a.example", 5.0) as raw:
        assert raw.recv(5) == b"hello"
    assert pieces[0].startswith(b"CONNECT a.example:6443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic bWU6cGFzcw==" in pieces[0]


def test_a_tunnel_that_is_refused() -> None:
    port, _ = served(b"HTTP/1.1 403 Forbidden\r\n\r\n")
    access = Access("https://a.example")
    access.proxy = f"http://127.0.0.1:{port}"
    with pytest.raises(CommandError, match="Forbidden"):
        connect(access, b"a.example", 5.0)


def test_socks() -> None:
    port, pieces = served(b"\x05\x00", b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00hello")
    access = Access("https://a.example")
    access.proxy = f"socks5://127.0.0.1:{port}"
    with connect(access, b"a.example", 5.0) as raw:
        assert raw.recv(5) == b"hello"
    assert pieces[1] == b"\x05\x01\x00\x03\x09a.example\x01\xbb"


def test_a_proxy_that_refuses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    access = Access("https://a.example:6443")
    access.proxy = f"http://127.0.0.1:{port}"
    with pytest.raises(NoConnection, match=f"proxyconnect tcp: dial tcp 127.0.0.1:{port}") as caught:
        connect(access, b"a.example", 5.0)
    assert caught.value.refused == "a.example:6443"
