"""--raw: requests to a path that the user names; bodies are passed on as they are."""

from __future__ import annotations

from pybernetes.tools.kubectl.addresses import raw_path
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError


def request(context: Context, method: str, path: str, filename: str = "") -> None:
    """Send a request and print the answer as it comes."""
    path, body = raw_path(path), None
    if filename:
        from pybernetes.tools.kubectl.resources.manifests import read

        body, _ = read(filename, context.stdin)
    elif method in ("PUT", "POST"):
        raise CommandError("a body is needed: give it with --filename")
    response = context.client.send(method, path, body, accept="application/json, */*")
    for piece in response.pieces():
        context.write_bytes(piece)
