"""Reaches a server through a proxy: HTTP with CONNECT, the same over TLS, or SOCKS 5."""

from __future__ import annotations

import socket

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import NoConnection

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kubeconfig.access import Access

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_HEAD_LIMIT = 65536


def connect(access: Access, host: bytes, timeout: float | None) -> Any:
    """Return a connection to the server of an access, or to the proxy itself for a server without TLS."""
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(access.proxy)
    address = (parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 80))
    user = unquote(parts.username or ""), unquote(parts.password or "")
    try:
        raw: Any = socket.create_connection(address, timeout)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        refused = _place(access) if isinstance(error, ConnectionRefusedError) else ""
        reason = f"proxyconnect tcp: dial tcp {address[0]}:{address[1]}: connect: {why}"
        raise NoConnection(reason, refused) from None
    if parts.scheme == "https":
        import ssl

        raw = ssl.create_default_context().wrap_socket(raw, server_hostname=address[0])
    if parts.scheme.startswith("socks5"):
        _socks(raw, host, access.port, user)
    elif access.scheme == "https":
        _tunnel(raw, access, user)
    return raw


def _place(access: Access) -> str:
    return f"[{access.host}]:{access.port}" if ":" in access.host else f"{access.host}:{access.port}"


def _tunnel(raw: Any, access: Access, user: tuple[str, str]) -> None:
    place = _place(access)
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", "User-Agent: kubectl"]
    if user[0]:
        import base64

        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(':'.join(user).encode()).decode()}")
    raw.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):  # byte by byte: what follows belongs to the server
        piece = raw.recv(1)
        if not piece or len(head) > _HEAD_LIMIT:
            raise NoConnection("proxyconnect tcp: EOF")
        head += piece
    status = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")[2]
    if not status.startswith("200"):
        raise NoConnection(status.partition(" ")[2] or status)


def _socks(raw: Any, host: bytes, port: int, user: tuple[str, str]) -> None:
    raw.sendall(b"\x05\x02\x00\x02" if user[0] else b"\x05\x01\x00")
    version, method = _exactly(raw, 2)
    if version != 5 or method not in (0, 2):
        raise NoConnection("socks connect: no acceptable authentication methods")
    if method == 2:
        name, password = (text.encode()[:255] for text in user)
        raw.sendall(b"\x01" + bytes([len(name)]) + name + bytes([len(password)]) + password)
        if _exactly(raw, 2)[1]:
            raise NoConnection("socks connect: username/password authentication failed")
    raw.sendall(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + port.to_bytes(2))
    head = _exactly(raw, 4)
    if head[1]:
        raise NoConnection(f"socks connect: error {head[1]}")
    size = {1: 4, 4: 16}.get(head[3]) or _exactly(raw, 1)[0]
    _exactly(raw, size + 2)


def _exactly(raw: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = raw.recv(size - len(data))
        if not piece:
            raise NoConnection("socks connect: EOF")
        data += piece
    return data
