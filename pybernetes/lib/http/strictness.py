"""What the parser lets pass and we do not: messages that two parsers could read differently.

llhttp itself refuses a repeated or malformed Content-Length, one beside a Transfer-Encoding, bare line feeds and
carriage returns, folded headers, spaces around names, and malformed chunks.
"""

from __future__ import annotations

from collections.abc import Mapping

_CHUNKED = b"chunked"


def request_problem(version: str, headers: Mapping[bytes, bytes]) -> str:
    """Return why the head of a request is refused; empty if it is not."""
    if version not in ("1.0", "1.1"):
        return "unsupported protocol version"
    if version == "1.1" and b"host" not in headers:
        return "missing required Host header"
    return coding_problem(version, headers)


def coding_problem(version: str, headers: Mapping[bytes, bytes]) -> str:
    """Return why the transfer encoding of a message is refused; empty if it is not."""
    coding = headers.get(b"transfer-encoding")
    if coding is None:
        return ""
    if version == "1.0":
        return "a transfer encoding in a message of HTTP/1.0"
    return "" if coding.strip(b" \t").lower() == _CHUNKED else "unsupported transfer encoding"
