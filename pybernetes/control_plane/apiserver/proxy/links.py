"""Links of pages behind the proxy: they must lead back through it."""

from __future__ import annotations

import re
from collections.abc import Callable
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
# What is between the tags of these is text, whatever it looks like.
_RAW = {
    name: (re.compile(rb"</%b(?=[ \t\n\f\r/>])" % name, re.IGNORECASE), len(name) + 3)
    for name in b"iframe noembed noframes script style textarea title xmp".split()
}
_COMMENT, _DECLARATION = (re.compile(rb"-->"), 3), (re.compile(rb">"), 1)
_NO_ATTRIBUTES: frozenset[bytes] = frozenset()
_NAME = re.compile(rb"/?([a-zA-Z][^ \t\n\f\r/>]*)")
_SPACE = re.compile(rb"[ \t\n\f\r]*")
_BETWEEN = re.compile(rb"[ \t\n\f\r/]*")
_KEY = re.compile(rb"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*")
_BARE = re.compile(rb"[^ \t\n\f\r>]+")
_END, _EQUALS, _QUOTES = ord(">"), ord("="), b"\"'"
_LONGEST_TAG = 1 << 13
# A tag that is not complete is looked at again with each piece that comes, but a long one only when it has doubled.
_SHORT_TAG = 1 << 10


def led_back(url: str, prefix: str, host: str) -> str:
    """Return a URL as it is seen through the proxy at ``prefix``; one of another server, or a relative one, stays."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    if parts.netloc not in ("", host) or not parts.path.startswith("/") or parts.path.startswith(prefix):
        return url
    return urlunsplit(("", "", prefix + parts.path, parts.query, parts.fragment))


class _Incomplete(Exception):
    """What is there does not end here."""


class Page:
    """Changes the links of a page as it comes, in pieces of any size and in time that grows with their sizes only.

    ``change`` gives the URL to put in the place of another one.
    """

    def __init__(self, change: Callable[[str], str]) -> None:
        self._change = change
        self._kept = b""
        self._enough = 0  # how much of a tag must be there until it is worth another look
        # What ends the text that the page is in, and how many bytes of it must be there to tell.
        self._ends: tuple[re.Pattern[bytes], int] | None = None

    def feed(self, data: bytes, last: bool = False) -> bytes:
        """Return what can be sent on so far: all but a tag that has only begun; with ``last`` that too."""
        data = self._kept + data
        if len(data) < self._enough and not last:
            self._kept = data
            return b""
        changed: list[bytes] = []
        at = self._walk(data, changed)
        if last:
            changed.append(data[at:])
            at = len(data)
        self._kept = data[at:]
        self._enough = 2 * len(self._kept) if len(self._kept) > _SHORT_TAG else 0
        return b"".join(changed)

    def _walk(self, data: bytes, changed: list[bytes]) -> int:
        """Put what is complete into ``changed``; return where the rest begins."""
        at = 0
        while at < len(data):
            if self._ends is not None:
                pattern, size = self._ends
                end = pattern.search(data, at)
                if end is None:
                    stop = max(at, len(data) - size + 1)  # what ends it may have begun
                    changed.append(data[at:stop])
                    return stop
                self._ends = None
                changed.append(data[at : end.start()])
                at = end.start()
            begin = data.find(b"<", at)
            if begin < 0:
                changed.append(data[at:])
                return len(data)
            changed.append(data[at:begin])
            try:
                at = self._markup(data, begin, changed)
            except _Incomplete:
                if len(data) - begin < _LONGEST_TAG:
                    return begin
                changed.append(data[begin:])
                return len(data)
        return at

    def _markup(self, data: bytes, begin: int, changed: list[bytes]) -> int:
        """Put what begins with a ``<`` into ``changed``; return where it ends. _Incomplete if that is not known."""
        if begin + 1 == len(data):
            raise _Incomplete
        name = _NAME.match(data, begin + 1)
        if name is not None:
            return self._tag(data, begin, name, changed)
        end = begin + 1
        if data[end] in b"!?":
            if data.startswith(b"<!--", begin):
                self._ends, end = _COMMENT, begin + 2
            elif begin + 4 > len(data) and b"<!--".startswith(data[begin:]):
                raise _Incomplete
            else:
                self._ends = _DECLARATION
        changed.append(data[begin:end])
        return end

    def _tag(self, data: bytes, begin: int, name: re.Match[bytes], changed: list[bytes]) -> int:
        element = name[1].lower()
        opens = data[begin + 1] != ord("/")
        names = _ATTRIBUTES.get(element, _NO_ATTRIBUTES) if opens else _NO_ATTRIBUTES
        parts: list[bytes] = []
        sent, at = begin, name.end()
        while (at := _past(_BETWEEN, data, at)) < len(data) and data[at] != _END:
            key = _KEY.match(data, at)
            assert key is not None
            at, start, end = _value(data, key.end())
            if key[0].lower() in names and start < end:
                url = data[start:end].decode(errors="surrogateescape")
                parts += [data[sent:start], self._change(url).encode(errors="surrogateescape")]
                sent = end
        changed += [*parts, data[sent : at + 1]]
        if opens:
            self._ends = _RAW.get(element)
        return at + 1


def _past(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Return where what a pattern takes ends, which must be before the data's end."""
    match = pattern.match(data, at)
    end = at if match is None else match.end()
    if end >= len(data):
        raise _Incomplete
    return end


def _value(data: bytes, at: int) -> tuple[int, int, int]:
    """Return where an attribute ends after its name, and where its value begins and ends."""
    after = _past(_SPACE, data, at)
    if data[after] != _EQUALS:
        return at, at, at
    start = _past(_SPACE, data, after + 1)
    if data[start] in _QUOTES:
        end = data.find(data[start : start + 1], start + 1)
        if end < 0:
            raise _Incomplete
        return end + 1, start + 1, end
    end = _past(_BARE, data, start)
    return end, start, end
