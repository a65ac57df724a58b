"""Pages that come through the proxy: packed or not, with links that lead back through it."""

from __future__ import annotations

from collections.abc import Iterator

from pybernetes.control_plane.apiserver.proxy.links import Page, led_back
from pybernetes.lib.http.inflation import FORMATS, Packer, Unpacker

# What is changed without asking for more of a body.
_SLICE = 1 << 12


class PageBody:
    """The body of a page on its way to the client."""

    def __init__(self, prefix: str, host: str, encoding: bytes = b"") -> None:
        self._page = Page(lambda url: led_back(url, prefix, host))
        self._unpacker = Unpacker(encoding) if encoding else None
        self._packer = Packer(encoding) if encoding else None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what can be sent on, a bounded piece of work at a time; BadEncoding if the body is broken."""
        pieces = self._unpacker.feed(data) if self._unpacker is not None else (data,)
        for piece in pieces:
            for start in range(0, len(piece), _SLICE):
                changed = self._page.feed(piece[start : start + _SLICE])
                yield self._packer.feed(changed) if self._packer is not None else changed

    def finish(self) -> bytes:
        """Return what is left; BadEncoding if the end of the body is missing."""
        rest = self._page.feed(b"", last=True)
        if self._unpacker is None or self._packer is None:
            return rest
        self._unpacker.finish()
        return self._packer.feed(rest) + self._packer.finish()


def page_body(prefix: str, host: str, content_type: bytes, encoding: bytes) -> PageBody | None:
    """Return what changes the links of an answer, if it is a page whose encoding we know."""
    is_page = content_type.partition(b";")[0].strip().lower() == b"text/html"
    if not prefix or not is_page or (encoding and encoding not in FORMATS):
        return None
    return PageBody(prefix, host, encoding)
