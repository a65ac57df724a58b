"""Requests that are passed on: to which addresses, over which TLS, and what is said if nobody is there."""

from __future__ import annotations

import ssl
from urllib.parse import quote

from pybernetes.api import errors
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.control_plane.apiserver.proxy.reverse_proxy import ProxyError, Target, UpgradeError, forward
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.tls.paced_tls import PacedContext


def proxyable(address: str) -> str:
    """Return an address in the one spelling that everybody reads alike, to be dialled in the place of the given one.

    Empty if it is not one machine's that others reach too, but a loopback, link-local or group address.
    """
    parsed = parse_sloppy(address)
    if parsed is None:
        return ""
    if parsed.is_loopback or parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified:
        return ""
    return "" if str(parsed) == "255.255.255.255" else str(parsed)


def unverified() -> ssl.SSLContext:
    """Return TLS settings for a server whose certificate nobody checks: pods, and kubelets without an authority."""
    secure = PacedContext(ssl.PROTOCOL_TLS_CLIENT)
    secure.check_hostname = False
    secure.verify_mode = ssl.CERT_NONE
    return secure


async def forward_request(request: Request, target: Target, *, whole_refusals: bool = False) -> Answer:
    """Pass a request on; 503 if there is nobody to pass it to."""
    target.headers.setdefault(b"x-forwarded-for", _peer(request))
    try:
        return await forward(request, target, whole_refusals=whole_refusals)
    except ProxyError as error:
        raise errors.unavailable(f"error trying to reach service: {error}") from None
    except UpgradeError as error:
        raise errors.StatusError(500, "", str(error)) from None


def _peer(request: Request) -> bytes:
    peer = request.connection.transport.get_extra_info("peername")
    return str(peer[0]).encode() if peer else b""


def with_query(path: str, query: str) -> str:
    """Return a path, escaped again, and the query that came with it."""
    escaped = quote(path, safe="/:@!$&'()*+,;=-._~")
    return f"{escaped}?{query}" if query else escaped
