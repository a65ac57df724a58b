"""Requests made by hand, for tests of what looks at them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pybernetes.control_plane.apiserver.request import Request


def request(*headers: tuple[str, str], peer: Any = None, path: str = "/version") -> Request:
    """Return a request with headers, of which some may come more than once, as a connection hands it on."""
    found: dict[bytes, bytes] = {}
    repeated: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        key, text = name.lower().encode(), value.encode()
        if key in found:
            repeated.setdefault(key, [found[key]]).append(text)
            text = found[key] + b", " + text
        found[key] = text
    connection: Any = SimpleNamespace(peer=peer, tls=None, credential=None)
    result = Request(connection, "GET", path, "", found, b"")
    result.repeated = repeated or None
    return result
