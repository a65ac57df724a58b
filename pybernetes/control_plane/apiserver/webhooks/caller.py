"""Posts a review to a webhook and gives what it answered.

A webhook is named by a ``clientConfig``: a URL, or a service and a path, with the authorities to trust.
"""

from __future__ import annotations

import base64
import binascii
import ssl
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from pybernetes.control_plane.apiserver.codec.body_weight import weight
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.webhooks import review_responses
from pybernetes.control_plane.apiserver.webhooks.service_resolver import Unresolved, resolve
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.client import Distrusted, Peer, RequestFailed
from pybernetes.lib.tls import tls
from pybernetes.lib.tls.paced_tls import PacedContext

Result = TypeVar("Result")
# What is kept of contexts, and what one takes beside its authorities.
_MOST_BYTES, _CONTEXT_BYTES = 16 << 20, 64 << 10
_HEADERS = {
    "Accept": "application/json, */*",
    "Content-Type": "application/json",
    "User-Agent": "kube-apiserver-admission",
}


class CallFailed(Exception):
    """The webhook gave no usable answer; the text says why."""


class Caller:
    """Calls webhooks, with a TLS context for each bundle of authorities."""

    def __init__(self, api: ServerContext) -> None:
        self._api = api
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._bytes = 0

    async def post(
        self,
        config: dict[str, Any],
        review: dict[str, Any],
        seconds: float,
        read: Callable[[dict[str, Any]], Result],
        *,
        size: int = 0,
        tell: bool = True,
    ) -> Result:
        """Send the review, and return what is read of the one that was answered; CallFailed says why there is none.

        ``size`` is how many bytes the review has, if they may be many. What was answered may be large whatever was asked:
        it is read beside the event loop then. With ``tell`` the webhook hears how long it may take.
        """
        service = config.get("service")
        context = await self._context(config.get("caBundle") or "")
        if service is not None:
            name, port = f"{service['name']}.{service['namespace']}.svc", service.get("port") or 443
            shown, path = f"https://{name}:{port}", service.get("path") or "/"
        else:
            parts = urlsplit(config.get("url") or "")
            name, port = parts.hostname or "", parts.port or 443
            shown, path = f"{parts.scheme}://{parts.netloc}", parts.path or "/"
        path = path if path.startswith("/") else f"/{path}"
        if tell:
            path += f"?timeout={seconds:g}s"
        begin = f'Post "{shown}{path}": '
        try:
            host, number = (name, port) if service is None else self._resolve(service, port)
            dialer = self._api.nodes.control_plane if service is None else None
            peer = Peer(host, number, context, name, dialer)
            body = await off_loop.run(size, orjson.dumps, review)
            reply = await self._api.https.send(peer, "POST", path, body, _HEADERS, seconds)
        except Distrusted as error:
            flaws = self._api.webhook_metrics.certificate_flaws
            raise CallFailed(begin + await flaws.note(self._api.https, peer, error)) from None
        except (RequestFailed, Unresolved) as error:
            raise CallFailed(begin + str(error)) from None
        try:
            # An answer may be YAML, whose aliases stand for much.
            work = off_loop.LARGE + 1 if b"*" in reply.body and b"&" in reply.body else weight(reply.body)
            return await off_loop.run(work, lambda: read(review_responses.decoded(reply, review)))
        except review_responses.Unreadable as error:
            raise CallFailed(str(error)) from None

    def _resolve(self, service: dict[str, Any], port: int) -> tuple[str, int]:
        return resolve(self._api, service["namespace"], service["name"], port)

    async def _context(self, bundle: str) -> ssl.SSLContext:
        context = self._contexts.get(bundle)
        if context is None:
            try:
                context = await off_loop.run(len(bundle), _made, bundle)
            except (ssl.SSLError, ValueError, binascii.Error) as error:
                raise CallFailed(f"unable to load root certificates: {error}") from None
            size = _CONTEXT_BYTES + 2 * len(bundle)
            if self._bytes + size > _MOST_BYTES:
                self._contexts.clear()
                self._bytes = 0
            self._contexts[bundle] = context
            self._bytes += size
        return context


def _made(bundle: str) -> ssl.SSLContext:
    authorities = base64.b64decode(bundle).decode() if bundle else None
    return tls.client_context(authority_data=authorities, kind=PacedContext)
