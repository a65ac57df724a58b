"""The files of the pages, read once: nothing that a request says becomes a path of the file system."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

FRONTEND = Path(__file__).parent / "frontend"
_TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
}


class Page:
    """A file: its bytes, its type, and the tag by which browsers know whether they have it."""

    __slots__ = ("body", "content_type", "tag")

    def __init__(self, body: bytes, content_type: bytes) -> None:
        self.body, self.content_type = body, content_type
        self.tag = b'"' + hashlib.sha256(body).hexdigest()[:32].encode() + b'"'


@cache
def pages() -> dict[str, Page]:
    """Return every file by the path of its address."""
    by_path = {
        "/" + str(path.relative_to(FRONTEND)): Page(path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(FRONTEND.rglob("*"))
        if path.suffix in _TYPES
    }
    by_path["/"] = by_path["/index.html"]
    return by_path
