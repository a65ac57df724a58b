"""HTTP requests to containers, for probes and hooks: no certificates are checked, as nobody signed them."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from pybernetes import KUBERNETES_VERSION

_BODY_LIMIT = 10 * 1024
_REDIRECTS = 10
_AGENT = "kube-probe/" + ".".join(KUBERNETES_VERSION.removeprefix("v").split(".")[:2])


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and the beginning of the body; ``elsewhere`` if it was a redirect to another host."""

    status: int
    body: bytes
    elsewhere: bool = False


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def get(url: str, headers: list[tuple[str, str]], agent: str = _AGENT) -> Answer:
    """Send a GET that follows redirects to the same host."""
    for _ in range(_REDIRECTS):
        answer, location = await _once(url, headers, agent)
        if not location or not 300 <= answer.status < 400:
            return answer
        target = urljoin(url, location)
        if urlsplit(target).hostname != urlsplit(url).hostname:
            return Answer(answer.status, answer.body, True)
        url = target
    raise OSError(f'Get "{url}": stopped after {_REDIRECTS} redirects')


async def _once(url: str, headers: list[tuple[str, str]], agent: str) -> tuple[Answer, str]:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    assert parts.hostname is not None
    try:
        reader, writer = await asyncio.open_connection(
            parts.hostname, port, ssl=_context() if secure else None
        )
    except OSError as error:
        reason = "connect: connection refused" if isinstance(error, ConnectionRefusedError) else str(error)
        raise OSError(f'Get "{url}": dial tcp {parts.netloc}: {reason}') from None
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        given = {name.lower() for name, _ in headers}
        lines = [f"GET {path} HTTP/1.1", "Connection: close"]
        for name, value in (("Host", parts.netloc), ("User-Agent", agent), ("Accept", "*/*")):
            if name.lower() not in given:
                lines.append(f"{name}: {value}")
        # A header with no value at all takes away what would be sent by itself.
        lines += [
            f"{name}: {value}"
            for name, value in headers
            if value or name.lower() not in ("accept", "user-agent")
        ]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
        head = await reader.readuntil(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").split("\r\n")
        status = int(first.split(" ", 2)[1])
        found = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)
        }
        body = await reader.read(_BODY_LIMIT)
        return Answer(status, body), found.get("location", "")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, IndexError):
        raise OSError(f'Get "{url}": EOF') from None
    finally:
        writer.close()
