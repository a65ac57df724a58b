"""Heads of requests that are like the last one of their connection but for the target, and the length of a body.

A client that asks for one object after the other, or writes one, sends the same headers each time. What the parser has
accepted once is not parsed again: when all bytes before and after the target are those of the last head, and the target has
only characters that mean nothing to the parser, then the parser would find what it found then. Of a body, the head says
nothing but how long it is.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from pybernetes.lib.http.limits import Limits

# What a connection keeps has a bound.
LONGEST = 4096
# Characters of a target that need no look: no escapes, nothing that ends it.
PLAIN = (string.ascii_letters + string.digits + "/-._~?&=,:+!()*").encode()
# What comes with its body in so many bytes is read at once.
MOST = 16 * 1024
# With these, more than the head decides where a request ends or what becomes of the connection.
_TELLING = (b"connection", b"expect", b"transfer-encoding", b"upgrade")
_LENGTH = b"content-length"
_DIGITS = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,5})(?=\r\n)", re.IGNORECASE)


class KnownHead(NamedTuple):
    """What comes before the target and after it, where they are, and what that means."""

    begin: bytes
    end: bytes
    target: int
    rest: int
    method: str
    headers: dict[bytes, bytes]


class KnownBodyHead(NamedTuple):
    """The same of a request with a body: what comes before the length of the body and after it."""

    begin: bytes
    middle: bytes
    end: bytes
    method: str
    headers: dict[bytes, bytes]

    def read(self, data: bytes) -> tuple[bytes, dict[bytes, bytes], bytes] | None:
        """Return target, headers and body of a whole request that begins as this one did; None if the parser has to look."""
        place = data.find(b" ", len(self.begin))
        if not data.startswith(self.middle, place):
            return None
        start = place + len(self.middle)
        stop = data.find(b"\r", start, start + 6)
        digits, end = data[start:stop], stop + len(self.end)
        target = data[len(self.begin) - 1 : place]
        if (
            stop < 0
            or not digits.isdigit()
            or int(digits) != len(data) - end
            or not data.startswith(self.end, stop)
            or target.translate(None, PLAIN)
        ):
            return None
        headers = self.headers.copy()
        headers[_LENGTH] = digits
        return target, headers, data[end:]


def known_head(
    data: bytes, method: bytes, target: bytes, headers: dict[bytes, bytes], limits: Limits
) -> KnownHead | KnownBodyHead | None:
    """Return what is known from the head of a request that was accepted; None if that is not enough."""
    begin = method + b" " + target
    if (
        len(data) > LONGEST
        or min(limits.head, limits.target) < LONGEST
        or not data.startswith(begin)
        or any(name in headers for name in _TELLING)
    ):
        return None
    end = data[len(begin) :]
    # Whoever handles the request may change its headers.
    if _LENGTH not in headers:
        return KnownHead(method + b" /", end, len(method) + 1, len(end), method.decode(), headers.copy())
    digits = _DIGITS.search(end)
    if digits is None or limits.body < MOST or min(limits.head, limits.target) < MOST:
        return None
    start, stop = digits.span(1)
    return KnownBodyHead(method + b" /", end[:start], end[stop:], method.decode(), headers.copy())
