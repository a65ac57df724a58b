"""Checks of what others wrote before a proxy sees it: one text that it refuses would hold up everybody's routes."""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+\-.^_`|~]{1,256}")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_PATH = re.compile(r"/[-A-Za-z0-9/._~!$&'()*+,;=:@%]*")
_DURATION = re.compile(r"([0-9]{1,5})(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_MOST_PATTERN, _PATTERN_MEMORY = 4096, 1 << 20
# Steps of a compiled expression. What the proxy is told is more: other versions of the library count a little differently, and
# paths that are replaced become expressions as well.
MOST_STEPS, PROXY_STEPS = 2000, 8000
# The proxy's own: it refuses to change them, or decides by them whom to trust.
_KEPT = (
    "host",
    "connection",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "te",
    "keep-alive",
    "proxy-connection",
)


class Unsupported(Exception):
    """Something that cannot be carried out: a reason as conditions have it, and a message."""

    def __init__(self, message: str, reason: str = "UnsupportedValue") -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


def header_name(name: str) -> str:
    """Return a name of a header that may be matched."""
    if not _TOKEN.fullmatch(name):
        raise Unsupported(f"{name!r} is no name of a header")
    return name


def changed_header(name: str) -> str:
    """Return a name of a header that may be changed."""
    header_name(name)
    if name.lower() in _KEPT or name.lower().startswith("x-envoy-"):
        raise Unsupported(f"the header {name} may not be changed")
    return name


def header_value(value: str) -> str:
    """Return the value of a header."""
    if not _VALUE.fullmatch(value):
        raise Unsupported("the value of a header has characters that end it")
    return value


def path(value: str) -> str:
    """Return a path to match or to send."""
    if not _PATH.fullmatch(value):
        raise Unsupported(f"{value!r} is no path")
    return value


@lru_cache(maxsize=4096)
def pattern(value: str) -> str:
    """Return a regular expression of RE2, which the proxy matches in linear time."""
    import re2

    if len(value) > _MOST_PATTERN:
        raise Unsupported("the regular expression is too long")
    options = re2.Options()
    options.max_mem = _PATTERN_MEMORY
    options.log_errors = False
    try:
        steps = re2.compile(value, options).programsize
    except re2.error:
        raise Unsupported(f"{value!r} is no regular expression of RE2, or too large a one") from None
    if steps > MOST_STEPS:
        raise Unsupported(f"{value!r} is too large a regular expression")
    return value


def duration(value: str) -> float:
    """Return the seconds of a duration such as 1m30s."""
    parts = _DURATION.findall(value)
    if not parts or "".join(number + unit for number, unit in parts) != value:
        raise Unsupported(f"{value!r} is no duration")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)
