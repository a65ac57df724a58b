"""Requests to an address that a person or another server gave, in whole: where it is, and where it leads to."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from urllib.parse import urljoin, urlsplit

from pybernetes.lib.http.client import HttpClient, Peer, RequestFailed
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.http.messages import Reply

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 10
# What is meant for one server is not told to another one.
_SECRET = {"authorization", "cookie", "www-authenticate"}


def located(
    url: str, context: ssl.SSLContext | None = None, dialer: Dialer | None = None, server_name: str = ""
) -> tuple[Peer, str]:
    """Return the server of an address and the path there; ValueError if there is none, or it is not of the web.

    ``server_name`` is what its certificate has to be good for, if that is another name than the one in the address.
    """
    parts = urlsplit(url)
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError(f"{url} is no address of a web server")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not path.isascii() or not path.isprintable() or " " in path:
        raise ValueError(f"{url} is no address of a web server")
    if parts.scheme == "http":
        return Peer(host, parts.port or 80, None, server_name, dialer), path
    return Peer(host, parts.port or 443, context or ssl.create_default_context(), server_name, dialer), path


async def fetch(
    client: HttpClient, url: str, headers: Mapping[str, str], seconds: float, context: ssl.SSLContext | None = None
) -> Reply:  # fmt: skip
    """Return what is at an address, or where it leads to; RequestFailed or ValueError if that is nothing."""
    origin = urlsplit(url)[:2]
    for _ in range(_MOST_REDIRECTS + 1):
        peer, path = located(url, context)
        reply = await client.send(peer, "GET", path, b"", headers, seconds)
        where = reply.header(b"location")
        if reply.status not in _REDIRECTS or not where:
            return reply
        following = urljoin(url, where)
        if url.startswith("https:") and not following.startswith("https:"):
            raise RequestFailed(f"{url} leads out of TLS, to {following!r}")
        url = following
        if urlsplit(url)[:2] != origin:
            headers = {name: value for name, value in headers.items() if name.lower() not in _SECRET}
    raise RequestFailed(f"stopped after {_MOST_REDIRECTS} redirects")
