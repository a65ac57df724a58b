"""--raw: requests to a path that the user names; bodies are passed on as they are."""

from __future__ import annotations

from pybernetes.tools.kubectl.addresses import raw_path
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError


def request_with_file(context: Context, method: str) -> None:
    """Send what --filename names to the path of --raw; refuse flags that mean something only for objects."""
    flags = context.flags
    if len(flags.filename) > 1 or (method != "DELETE" and not flags.filename):
        raise CommandError("--raw can only use a single local file or stdin")
    filename = flags.filename[0] if flags.filename else ""
    if filename.startswith(("http://", "https://")):
        raise CommandError("--raw cannot read from a url")
    others = (
        ("--recursive", flags.recursive),
        ("--selector (-l)", method == "POST" and flags.selector),
        ("--output", flags.output),
    )
    for name, given in others:
        if given:
            raise CommandError(f"--raw and {name} are mutually exclusive")
    request(context, method, flags.raw, filename)


def request(context: Context, method: str, path: str, filename: str = "") -> None:
    """Send a request and print the answer as it comes."""
    path, body = raw_path(path), None
    if filename:
        from pybernetes.tools.kubectl.resources.manifests import read

        body, _ = read(filename, context.stdin)
    response = context.client.send(method, path, body, accept="application/json, */*", content_type="")
    for piece in response.pieces():
        context.write_bytes(piece)
