"""Heads of requests that are like the last one of their connection but for the target.

A client that asks for one object after the other sends the same headers each time. What the parser has accepted once is
not parsed again: when all bytes before and after the target are those of the last head, and the target has only characters
that mean nothing to the parser, then the parser would find what it found then.
"""

from __future__ import annotations

import string
from typing import NamedTuple

from pybernetes.lib.http.limits import Limits

# What a connection keeps has a bound.
LONGEST = 4096
# Characters of a target that need no look: no escapes, nothing that ends it.
PLAIN = (string.ascii_letters + string.digits + "/-._~?&=,:+!()*").encode()
# With these, more than the head decides where a request ends or what becomes of the connection.
_TELLING = (b"connection", b"content-length", b"expect", b"transfer-encoding", b"upgrade")


class KnownHead(NamedTuple):
    """What comes before the target and after it, where they are, and what that means."""

    begin: bytes
    end: bytes
    target: int
    rest: int
    method: str
    headers: dict[bytes, bytes]


def known_head(
    data: bytes, method: bytes, target: bytes, headers: dict[bytes, bytes], limits: Limits
) -> KnownHead | None:
    """Return what is known from the head of a request without a body that was accepted; None if that is not enough."""
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
    return KnownHead(method + b" /", end, len(method) + 1, len(end), method.decode(), headers.copy())
