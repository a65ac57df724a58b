"""Requests to a path that the user names, without looking at what goes to and fro."""

from __future__ import annotations

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError


def request(context: Context, method: str, path: str, filename: str = "") -> None:
    """Send a request and print the answer as it comes."""
    body = None
    if filename:
        from pybernetes.tools.kubectl.resources.manifests import read

        body, _ = read(filename, context.stdin)
    elif method in ("PUT", "POST"):
        raise CommandError("a body is needed: give it with --filename")
    response = context.client.send(method, path, body, accept="application/json, */*")
    buffer = getattr(context.stdout, "buffer", None)
    for piece in response.pieces():
        if buffer is None:
            context.stdout.write(piece.decode("utf-8", "replace"))
        else:
            context.stdout.flush()
            buffer.write(piece)
            buffer.flush()
