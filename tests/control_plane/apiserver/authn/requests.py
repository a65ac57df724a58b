"""Requests made by hand, for tests of what looks at them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pybernetes.control_plane.apiserver.request import Request


def request(*headers: tuple[str, str], peer: Any = None, path: str = "/version") -> Request:
    """Return a request with headers, of which some may come more than once, as a connection hands it on."""
    joined: dict[bytes, bytes] = {}
    repeated: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        key, text = name.lower().encode(), value.encode()
        if key in joined:
            repeated.setdefault(key, [joined[key]]).append(text)
            text = joined[key] + b", " + text
        joined[key] = text
    connection: Any = SimpleNamespace(peer=peer, tls=None, credential=None)
    result = Request(connection, "GET", path, "", joined, b"")
    result.repeated = repeated or None
    return result
