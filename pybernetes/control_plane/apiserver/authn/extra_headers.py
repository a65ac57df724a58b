"""What headers say about a user beyond name and groups."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pybernetes.control_plane.apiserver.request import Request

_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")


def extra(request: Request, prefix: bytes) -> dict[str, list[str]]:
    """Return the values of every header with a prefix, by the rest of its name: in lower case, with escapes undone."""
    extras: dict[str, list[str]] = {}
    for header in request.headers:
        if header.startswith(prefix):
            key = header[len(prefix) :].decode("latin-1")
            if not _BAD_ESCAPE.search(key):
                key = unquote(key)
            extras.setdefault(key, []).extend(request.values(header))
    return extras
