"""The files that ``kubectl proxy --www`` serves."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

from pybernetes.lib.http.messages import TEXT, Response

SAFE = "/:@!$&'()*+,;=-._~"  # what stays as it is in a path
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# The types that do not depend on the machine.
_TYPES = {
    ".avif": "image/avif", ".css": "text/css", ".gif": "image/gif", ".gz": "application/gzip", ".htm": "text/html",
    ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".js": "text/javascript",
    ".json": "application/json", ".mjs": "text/javascript", ".pdf": "application/pdf", ".png": "image/png",
    ".svg": "image/svg+xml", ".wasm": "application/wasm", ".webp": "image/webp", ".xml": "text/xml",
}  # fmt: skip


def refusal(text: str, status: int) -> Response:
    """Return an answer that says why there is no other; a browser shall not take it for anything but text."""
    return Response(f"{text}\n".encode(), status, TEXT, ((b"X-Content-Type-Options", b"nosniff"),))


def redirect(target: str) -> Response:
    """Return the answer that sends a client to another path."""
    import html

    text = f'<a href="{html.escape(target)}">Temporary Redirect</a>.\n\n'
    return Response(text.encode(), 307, b"text/html; charset=utf-8", ((b"Location", target.encode()),))


def static_file(folder: str, name: str) -> Response:
    """Return a file of a folder, or what is in one of its folders, and nothing of anywhere else."""
    root = os.path.realpath(folder)
    if "\0" in name:
        return refusal("404 page not found", 404)
    path = os.path.realpath(os.path.join(root, name.lstrip("/")))
    if os.path.commonpath((root, path)) != root or not os.path.exists(path):
        return refusal("404 page not found", 404)
    if os.path.isdir(path):
        if name and not name.endswith("/"):
            return _moved(f"{quote(name.rpartition('/')[2], safe=SAFE)}/")
        index = os.path.join(path, "index.html")
        if not os.path.isfile(index):
            return _listing(path)
        path = index
    elif name.rpartition("/")[2] == "index.html":
        return _moved("./")
    with open(path, "rb") as file:
        content = file.read()
    return Response(content, content_type=_type(path, content).encode())


def _moved(target: str) -> Response:
    return Response(b"", 301, TEXT, ((b"Location", target.encode()),))


def _type(path: str, content: bytes) -> str:
    """Return the type of a file: what its ending says, or else what it looks like."""
    import mimetypes

    ending = os.path.splitext(path)[1].lower()
    known = _TYPES.get(ending) or mimetypes.guess_type(f"x{ending}")[0]
    if known:
        return f"{known}; charset=utf-8" if known.startswith("text/") else known
    # A byte that no text has makes it none.
    return "application/octet-stream" if _NO_TEXT.search(content[:512]) else "text/plain; charset=utf-8"


def _listing(path: str) -> Response:
    import html

    names = sorted(entry.name + "/" * entry.is_dir() for entry in os.scandir(path))
    lines = [f'<a href="{quote(name, safe=SAFE)}">{html.escape(name)}</a>\n' for name in names]
    head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
    text = f"{head}<pre>\n{''.join(lines)}</pre>\n"
    return Response(text.encode(), content_type=b"text/html; charset=utf-8")
