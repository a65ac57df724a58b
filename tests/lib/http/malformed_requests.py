"""Requests that two parsers could read differently, or that hold too much: no server of ours takes them."""

from __future__ import annotations

import asyncio
import ssl

_POST = b"POST /healthz HTTP/1.1\r\nHost: a\r\n"
_GET = b"GET /healthz HTTP/1.1\r\nHost: a\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"

# By name: the request, and the status that it gets. The connection ends with the answer.
MALFORMED: dict[str, tuple[bytes, int]] = {
    "two lengths that differ": (_POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    "two lengths that agree": (_POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400),
    "a list of lengths": (_POST + b"Content-Length: 1, 1\r\n\r\na", 400),
    "a length with a sign": (_POST + b"Content-Length: +1\r\n\r\na", 400),
    "a length in hexadecimal": (_POST + b"Content-Length: 0x1\r\n\r\na", 400),
    "an empty length": (_POST + b"Content-Length:\r\n\r\n", 400),
    "a length and chunks": (_POST + b"Content-Length: 3\r\n" + _CHUNKED + b"\r\n0\r\n\r\n", 400),
    "chunks and a length": (_POST + _CHUNKED + b"Content-Length: 3\r\n\r\n0\r\n\r\n", 400),
    "chunks twice": (_POST + _CHUNKED * 2 + b"\r\n0\r\n\r\n", 400),
    "another encoding": (_POST + b"Transfer-Encoding: gzip\r\n\r\n0\r\n\r\n", 400),
    "another encoding before chunks": (_POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400),
    "identity": (_POST + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n", 400),
    "nearly chunks": (_POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400),
    "chunks behind a vertical tab": (_POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400),
    "chunks in HTTP/1.0": (b"POST /healthz HTTP/1.0\r\n" + _CHUNKED + b"\r\n0\r\n\r\n", 400),
    "a bare line feed after the request line": (b"GET /healthz HTTP/1.1\nHost: a\r\n\r\n", 400),
    "a bare line feed after a header": (b"GET /healthz HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
    "a bare line feed at the end of the head": (_GET + b"\n", 400),
    "a bare carriage return": (_GET + b"X: b\rY: c\r\n\r\n", 400),
    "a bare line feed after the size of a chunk": (_POST + _CHUNKED + b"\r\n1\na\r\n0\r\n\r\n", 400),
    "a chunk without its end": (_POST + _CHUNKED + b"\r\n1\r\na0\r\n\r\n", 400),
    "a chunk's size with a prefix": (_POST + _CHUNKED + b"\r\n0x1\r\na\r\n0\r\n\r\n", 400),
    "a chunk that is too large to count": (_POST + _CHUNKED + b"\r\n" + b"f" * 17 + b"\r\n", 400),
    "a space before the size of a chunk": (_POST + _CHUNKED + b"\r\n 1\r\na\r\n0\r\n\r\n", 400),
    "a space after the size of a chunk": (_POST + _CHUNKED + b"\r\n1 \r\na\r\n0\r\n\r\n", 400),
    "a chunk of a negative size": (_POST + _CHUNKED + b"\r\n-1\r\na\r\n0\r\n\r\n", 400),
    "a chunk of no size": (_POST + _CHUNKED + b"\r\n\r\na\r\n0\r\n\r\n", 400),
    "a line feed in a chunk's extension": (_POST + _CHUNKED + b"\r\n1;a\nb\r\na\r\n0\r\n\r\n", 400),
    "a carriage return in a chunk's extension": (_POST + _CHUNKED + b"\r\n1;a\rb\r\na\r\n0\r\n\r\n", 400),
    "a line feed in a quoted extension": (_POST + _CHUNKED + b'\r\n1;a="b\nc"\r\na\r\n0\r\n\r\n', 400),
    "chunks twice in one header": (_POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400),
    "chunks and identity": (
        _POST + _CHUNKED + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        400,
    ),
    "chunks in HTTP/1.0 kept alive": (
        b"POST /healthz HTTP/1.0\r\nConnection: keep-alive\r\n" + _CHUNKED + b"\r\n0\r\n\r\n",
        400,
    ),
    "a line end before a request": (b"\r\n" + _GET + b"\r\n", 400),
    "line ends before a request": (b"\r\n\r\n\r\n" + _GET + b"\r\n", 400),
    "a bare line feed before a request": (b"\n" + _GET + b"\r\n", 400),
    "line ends without an end": (b"\r\n" * 100_000, 400),
    "no path": (b"GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a star for a path": (b"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "an authority for a path": (b"GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a tunnel": (b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "another scheme": (b"GET ftp://a/healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a user in the target": (b"GET http://b@a/healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a fragment": (b"GET /healthz#a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a bad escape": (b"GET /healthz%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "half an escape": (b"GET /healthz%2 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a null byte in the path": (b"GET /healthz\0 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a letter beyond ASCII in the path": ("GET /hällo HTTP/1.1\r\nHost: a\r\n\r\n".encode(), 400),
    "a letter beyond ASCII in a name": (_GET + "Ä: b\r\n\r\n".encode(), 400),
    "a delete character in a header": (_GET + b"X: a\x7fb\r\n\r\n", 400),
    "a space after the version": (b"GET /healthz HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
    "a tab after the method": (b"GET\t/healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "too many parameters": (b"GET /healthz?" + b"a&" * 2000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a folded header": (_GET + b"X: b\r\n c\r\n\r\n", 400),
    "a header folded with a tab": (_GET + b"X: b\r\n\tc\r\n\r\n", 400),
    "a folded first header": (b"GET /healthz HTTP/1.1\r\n X: b\r\nHost: a\r\n\r\n", 400),
    "a space before the colon": (_GET + b"X : b\r\n\r\n", 400),
    "a header without a colon": (_GET + b"X\r\n\r\n", 400),
    "a header without a name": (_GET + b": b\r\n\r\n", 400),
    "a null byte in a header": (_GET + b"X: a\0b\r\n\r\n", 400),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "two hosts": (_GET + b"Host: b\r\n\r\n", 400),
    "HTTP/0.9": (b"GET /healthz\r\n\r\n", 400),
    "HTTP/0.9 by name": (b"GET /healthz HTTP/0.9\r\nHost: a\r\n\r\n", 400),
    "HTTP/2.0": (b"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", 400),
    "HTTP/2.0 kept alive": (b"GET /healthz HTTP/2.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", 400),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "a version that there is not": (b"GET /healthz HTTP/1.2\r\nHost: a\r\n\r\n", 400),
    "an unknown method": (b"get /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "a control character in the path": (b"GET /healthz\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    "too many headers": (_GET + b"".join(b"X-%d: a\r\n" % number for number in range(2000)) + b"\r\n", 431),
    "a header too often": (_GET + b"X: a\r\n" * 2000 + b"\r\n", 431),
    "a header that is too long": (_GET + b"X: " + b"a" * 1_200_000 + b"\r\n\r\n", 431),
    "a header that is too long and has no end": (_GET + b"X: " + b"a" * 1_600_000, 431),
    "a path that is too long": (b"GET /" + b"a" * 1_200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    "a path that has no end": (b"GET /" + b"a" * 1_600_000, 414),
    "a query that is too long": (b"GET /healthz?" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    "a header that is rather long": (_GET + b"X: " + b"a" * 150_000 + b"\r\n\r\n", 431),
    "a header of nothing but spaces": (_GET + b"X: " + b" " * 1_200_000 + b"a\r\n\r\n", 431),
    "trailers that are too many": (
        _POST
        + _CHUNKED
        + b"\r\n0\r\n"
        + b"".join(b"X-%d: a\r\n" % number for number in range(2000))
        + b"\r\n",
        431,
    ),
    "extensions of chunks that are too long together": (
        _POST + _CHUNKED + b"\r\n" + (b"1;" + b"a" * 16_000 + b"\r\na\r\n") * 100,
        431,
    ),
    "a trailer that has no end": (_POST + _CHUNKED + b"\r\n0\r\nX: " + b"a" * 1_600_000, 431),
    "a chunk's extension that has no end": (_POST + _CHUNKED + b"\r\n1;" + b"a" * 1_600_000, 431),
}

# Requests that are fine, by what they end with, and what must not stand between them and the next one.
FINE: dict[str, bytes] = {
    "a head": _GET + b"\r\n",
    "a body": _POST + b"Content-Length: 2\r\n\r\nab",
    "a body of line ends": _POST + b"Content-Length: 4\r\n\r\n\r\n\r\n",
    "no chunk but the last": _POST + _CHUNKED + b"\r\n0\r\n\r\n",
    "chunks": _POST + _CHUNKED + b"\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
    "chunks of line ends": _POST + _CHUNKED + b"\r\n7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n",
    "chunks and a trailer": _POST + _CHUNKED + b"\r\n2\r\nab\r\n0\r\nX: y\r\n\r\n",
    "chunks with extensions": _POST + _CHUNKED + b"\r\n2;x=0\r\nab\r\n0;y\r\n\r\n",
    "chunks with zeros in front": _POST + _CHUNKED + b"\r\n002\r\nab\r\n000\r\n\r\n",
    "chunks and one more request": _POST + _CHUNKED + b"\r\n1\r\na\r\n0\r\n\r\n" + _POST + b"Content-Length: 1\r\n\r\nb",
}  # fmt: skip
LINE_ENDS = (b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\n\n")
NEXT = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"


async def sent(port: int, request: bytes, context: ssl.SSLContext | None = None) -> bytes:
    """Return all that a server says to a request until it ends the connection; a second request must not be read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        writer.write(request + NEXT)
        async with asyncio.timeout(30):
            return await reader.read()
    finally:
        writer.transport.abort()


async def check(port: int, context: ssl.SSLContext | None = None) -> None:
    """Make sure that a server answers each malformed request as it should, once, and closes the connection."""

    async def one(name: str, request: bytes, status: int) -> None:
        text = await sent(port, request, context)
        assert text.startswith(b"HTTP/1.1 %d " % status), (name, text[:200])
        assert text.count(b"HTTP/1.1 ") == 1, (name, text[:400])
        assert b"connection: close" in text.lower(), (name, text[:200])

    async def between(name: str, requests: bytes, line_ends: bytes) -> None:
        text = await sent(port, requests + line_ends, context)
        *answers, refusal = text.split(b"HTTP/1.1 ")[1:]
        assert len(answers) == requests.count(b"/healthz"), (name, line_ends, text[:400])
        assert refusal.startswith(b"400 "), (name, line_ends, text[:400])
        assert b"connection: close" in refusal.lower(), (name, line_ends, text[:400])

    # All at once: a server listens for a while to whom it has refused.
    await asyncio.gather(
        *(one(name, *case) for name, case in MALFORMED.items()),
        *(between(name, requests, line_ends) for name, requests in FINE.items() for line_ends in LINE_ENDS),
    )
