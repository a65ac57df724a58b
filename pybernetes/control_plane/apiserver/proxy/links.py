"""Links of pages behind the proxy: they must lead back through it."""

from __future__ import annotations

import re
import zlib
from urllib.parse import urlsplit, urlunsplit

# The attributes of HTML that hold a URL, and the elements that have them.
_ATTRIBUTES: dict[bytes, frozenset[bytes]] = {
    element: frozenset(names.split())
    for element, names in {
        b"a": b"href", b"applet": b"codebase", b"area": b"href", b"audio": b"src", b"base": b"href",
        b"blockquote": b"cite", b"body": b"background", b"button": b"formaction", b"command": b"icon",
        b"del": b"cite", b"embed": b"src", b"form": b"action", b"frame": b"longdesc src", b"head": b"profile",
        b"html": b"manifest", b"iframe": b"longdesc src", b"img": b"longdesc src usemap",
        b"input": b"src usemap formaction", b"ins": b"cite", b"link": b"href",
        b"object": b"classid codebase data usemap", b"q": b"cite", b"script": b"src", b"source": b"src",
        b"video": b"poster src",
    }.items()
}  # fmt: skip
_TAG = re.compile(rb"<([a-zA-Z][a-zA-Z0-9]*)(\s[^>]*)>")
_ATTRIBUTE = re.compile(rb"(\s)([a-zA-Z]+)(\s*=\s*)(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_LONGEST_TAG = 1 << 16
_GZIP = 31  # zlib's word for that format


def led_back(url: str, prefix: str, host: str) -> str:
    """Return a URL as it is seen through the proxy at ``prefix``; one of another server, or a relative one, stays."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.netloc not in ("", host) or not parts.path.startswith("/") or parts.path.startswith(prefix):
        return url
    return urlunsplit(("", "", prefix + parts.path, parts.query, parts.fragment))


class Page:
    """Changes the links of a page as it comes, in pieces of any size."""

    def __init__(self, prefix: str, host: str, encoding: bytes = b"") -> None:
        self._prefix, self._host = prefix, host
        self._kept = b""
        self._unpack = zlib.decompressobj(_GZIP) if encoding == b"gzip" else None
        self._pack = zlib.compressobj(wbits=_GZIP) if encoding == b"gzip" else None

    def feed(self, data: bytes) -> bytes:
        """Return what can be sent on so far: all but a tag that has only begun."""
        if self._unpack is not None:
            data = self._unpack.decompress(data)
        data = self._kept + data
        begun = data.rfind(b"<")
        cut = (
            begun
            if begun >= 0 and b">" not in data[begun:] and len(data) - begun < _LONGEST_TAG
            else len(data)
        )
        self._kept = data[cut:]
        changed = _TAG.sub(self._tag, data[:cut])
        return self._pack.compress(changed) if self._pack is not None else changed

    def finish(self) -> bytes:
        """Return what is left at the end."""
        rest, self._kept = self._kept, b""
        return self._pack.compress(rest) + self._pack.flush() if self._pack is not None else rest

    def _tag(self, match: re.Match[bytes]) -> bytes:
        names = _ATTRIBUTES.get(match[1].lower())
        if names is None:
            return match[0]
        return (
            b"<"
            + match[1]
            + _ATTRIBUTE.sub(lambda attribute: self._attribute(attribute, names), match[2])
            + b">"
        )

    def _attribute(self, match: re.Match[bytes], names: frozenset[bytes]) -> bytes:
        if match[2].lower() not in names:
            return match[0]
        value = match[4]
        quote = value[:1] if value[:1] in (b'"', b"'") else b""
        url = (value[1:-1] if quote else value).decode(errors="surrogateescape")
        led = led_back(url, self._prefix, self._host).encode(errors="surrogateescape")
        return match[1] + match[2] + match[3] + quote + led + quote


def page(prefix: str, host: str, content_type: bytes, encoding: bytes) -> Page | None:
    """Return what changes the links of an answer, if it is a page whose encoding we know."""
    if not prefix or not content_type.lower().startswith(b"text/html") or encoding not in (b"", b"gzip"):
        return None
    return Page(prefix, host, encoding)
