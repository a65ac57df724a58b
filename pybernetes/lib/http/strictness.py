"""What the parser lets pass and we do not: messages that two parsers could read differently.

llhttp itself refuses a repeated or malformed Content-Length, one beside a Transfer-Encoding, bare line feeds and
carriage returns, folded headers, spaces around names, and malformed chunks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_CHUNKED = b"chunked"
_BAD_ESCAPE = re.compile(rb"%(?![0-9a-fA-F]{2})")
# The form that a request to a proxy has; every server must know it.
_ABSOLUTE = re.compile(rb"(?i)https?://([^/?@]+)(/[^?]*)?(\?.*)?\Z")


def request_problem(version: str, headers: Mapping[bytes, bytes]) -> str:
    """Return why the head of a request is refused; empty if it is not."""
    if version not in ("1.0", "1.1"):
        return "unsupported protocol version"
    if version == "1.1" and b"host" not in headers:
        return "missing required Host header"
    return coding_problem(version, headers)


def target_problem(method: bytes, target: bytes) -> str:
    """Return why a request target is refused, as Go's server does; empty if it is not."""
    if b"#" in target:
        return "a fragment in the request target"
    if _BAD_ESCAPE.search(target.partition(b"?")[0]):
        return "invalid URL escape"
    if target.startswith(b"/") or (target == b"*" and method == b"OPTIONS") or _ABSOLUTE.match(target):
        return ""
    return "invalid URI for request"


def origin_form(target: bytes) -> tuple[bytes, bytes]:
    """Return a target that is no path as one, and the host that it names instead of the header's."""
    match = _ABSOLUTE.match(target)
    return ((match[2] or b"/") + (match[3] or b""), match[1]) if match else (target, b"")


def coding_problem(version: str, headers: Mapping[bytes, bytes]) -> str:
    """Return why the transfer encoding of a message is refused; empty if it is not."""
    coding = headers.get(b"transfer-encoding")
    if coding is None:
        return ""
    if version == "1.0":
        return "a transfer encoding in a message of HTTP/1.0"
    return "" if coding.strip(b" \t").lower() == _CHUNKED else "unsupported transfer encoding"
