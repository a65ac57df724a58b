"""HTTP requests to containers, for probes and hooks: no certificates are checked, as nobody signed them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import partial
from urllib.parse import SplitResult, urljoin, urlsplit

from pybernetes import KUBERNETES_VERSION
from pybernetes.lib.http.client_connection import ClientConnection, Disconnected, request_bytes
from pybernetes.lib.http.dialer import Dialer
from pybernetes.lib.network.names import Names
from pybernetes.lib.tls.paced_tls import PacedContext

dial = Dialer(Names())  # the hosts of probes and hooks are the pods' choice
_BODY_LIMIT = 10 * 1024
_REDIRECTS = 10
_AGENT = "kube-probe/" + ".".join(KUBERNETES_VERSION.removeprefix("v").split(".")[:2])
Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and the beginning of the body; ``elsewhere`` if it was a redirect to another host."""

    status: int
    body: bytes
    elsewhere: bool = False


def _context() -> ssl.SSLContext:
    context = PacedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def get(url: str, headers: Headers, agent: str = _AGENT) -> Answer:
    """Send a GET, following redirects to the same host; OSError says why there is no answer."""
    for _ in range(_REDIRECTS):
        try:
            answer, location = await _once(url, headers, agent)
            if not location or not 300 <= answer.status < 400:
                return answer
            target = urljoin(url, location)
            if urlsplit(target).hostname != urlsplit(url).hostname:
                return Answer(answer.status, answer.body, True)
        except ValueError as error:  # hosts are not checked by the API server, locations by nobody
            raise OSError(f'Get "{url}": {error}') from None
        url = target
    raise OSError(f'Get "{url}": stopped after {_REDIRECTS} redirects')


async def _once(url: str, headers: Headers, agent: str) -> tuple[Answer, str]:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    if not parts.hostname:
        raise ValueError("http: no Host in request URL")
    try:
        connection = await dial(
            partial(ClientConnection, lenient=True), parts.hostname, parts.port or (443 if secure else 80),
            context=_context() if secure else None,
        )  # fmt: skip
    except OSError as error:
        reason = "connect: connection refused" if isinstance(error, ConnectionRefusedError) else str(error)
        raise OSError(f'Get "{url}": dial tcp {parts.netloc}: {reason}') from None
    try:
        reply = await connection.open(_request(parts, headers, agent))
        return Answer(reply.status, await _beginning(connection)), reply.header(b"location")
    except Disconnected:
        raise OSError(f'Get "{url}": EOF') from None
    except ValueError:
        raise ValueError("net/http: invalid header field value") from None
    finally:
        connection.close()


def _request(parts: SplitResult, headers: Headers, agent: str) -> bytes:
    given = {name.lower() for name, _ in headers}
    lines = [("Connection", "close")]
    for name, value in (("Host", parts.netloc), ("User-Agent", agent), ("Accept", "*/*")):
        if name.lower() not in given:
            lines.append((name, value))
    # A header with no value at all takes away what would be sent by itself.
    lines += [
        (name, value) for name, value in headers if value or name.lower() not in ("accept", "user-agent")
    ]
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return request_bytes(
        "GET", target, [(name.encode("latin-1"), value.encode("latin-1")) for name, value in lines]
    )


async def _beginning(connection: ClientConnection) -> bytes:
    """Return as much of the body as is wanted; what is cut off after that does not matter."""
    body = b""
    try:
        while len(body) < _BODY_LIMIT and (data := await connection.read()):
            body += data
    except Disconnected:
        pass
    return body[:_BODY_LIMIT]
