"""Hands a request on to the API server that serves its group, under the name of who asked."""

from __future__ import annotations

import base64
import binascii
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.proxy import forwarding
from pybernetes.control_plane.apiserver.proxy.reverse_proxy import ProxyError, Target, UpgradeError, forward
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.webhooks.service_resolver import Unresolved, resolve
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.paced_tls import PacedContext

Header = tuple[bytes, bytes]
# What a header cannot hold, or not at its ends.
_OTHERWISE_READ = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]|\A[ \t]|[ \t]\Z")
FLAGS = (
    Flag("proxy-client-cert-file", "", "certificate that servers behind this one know it by"),
    Flag("proxy-client-key-file", "", "its key"),
)


@dataclass(frozen=True, slots=True)
class Identity:
    """The certificate by which servers behind this one know that it may name users."""

    certificate: Path | None = None
    key: Path | None = None


def server_name(spec: Object) -> str:
    """Return the name that the certificate of the other server has to be good for."""
    return f"{spec['service']['name']}.{spec['service']['namespace']}.svc"


def client_tls(spec: Object, identity: Identity) -> ssl.SSLContext:
    """Return the TLS settings for the other server; ValueError if its authorities make no sense."""
    try:
        bundle = base64.b64decode(spec.get("caBundle") or "").decode() or None
        return tls.client_context(
            authority_data=bundle,
            certificate=identity.certificate,
            key=identity.key,
            verify=not spec.get("insecureSkipTLSVerify"),
            kind=PacedContext,
        )
    except (ssl.SSLError, binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"unable to load root certificates: {error}") from None


def identity_headers(user: User) -> list[Header]:
    """Return the user as front proxies tell it; 503 for one whom headers cannot tell as he is."""
    headers = [(b"X-Remote-User", user.name.encode())]
    if user.uid:
        headers.append((b"X-Remote-Uid", user.uid.encode()))
    headers += [(b"X-Remote-Group", group.encode()) for group in user.groups]
    for key, values in user.extra.items():
        # Keys may hold what header names may not; they are read in lower case and unescaped.
        name = f"X-Remote-Extra-{quote(key, safe='')}".encode()
        headers += [(name, value.encode()) for value in values]
    for header, text in headers:
        # With a character less, or one that its reader takes off, it would be somebody else: "system:\nmasters".
        if _OTHERWISE_READ.search(text):
            raise errors.unavailable(
                f"error trying to reach service: invalid header field value for {go_format.quote(header.decode())}"
            )
    return headers


async def forward_request(
    context: ServerContext, request: Request, spec: Object, secure: ssl.SSLContext
) -> Answer:
    """Pass a request on; 503 if there is nobody to pass it to."""
    service = spec["service"]
    try:
        host, port = resolve(context, service["namespace"], service["name"], service["port"])
    except Unresolved:
        raise errors.unavailable("service unavailable") from None
    path = forwarding.with_query(request.path, request.query_text)
    target = Target(host, port, path, secure, server_name(spec), more=identity_headers(request.user))
    target.headers[b"audit-id"] = request.audit_id  # so that both servers note it as the same request
    target.dialer = context.nodes.dialer
    # A server behind this one could send clients, who trust this one and bring it their credentials, anywhere.
    target.redirects = False
    try:
        return await forward(request, target)
    except ProxyError as error:
        raise errors.unavailable(f"error trying to reach service: {error}") from None
    except UpgradeError as error:
        raise errors.unavailable(str(error)) from None


def flat(headers: Sequence[Header]) -> dict[str, str]:
    """Return headers of which none is repeated, for a client that takes no others."""
    return {name.decode(): value.decode() for name, value in headers}
