"""An HTTPS server that answers what the test tells it to: a webhook for admission or conversion."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pybernetes.lib.tls import tls
from tests.loopback_server import JsonHandler, loopback_server, served, wrap

Object = dict[str, Any]
# Gets the path and the review; gives a review, bytes to be sent as they are, a status and bytes, or these and headers.
Respond = Callable[[str, Object], Any]


class HookServer:
    """Where it is, whom to trust, and what it was asked."""

    def __init__(self, port: int, authority: bytes) -> None:
        self.port = port
        self.bundle = base64.b64encode(authority).decode()
        self.asked: list[tuple[str, Object]] = []
        self.connections = 0
        self.respond: Respond = lambda path, review: allow(review)

    def client(self, path: str = "/") -> Object:
        """Return the clientConfig of a path."""
        return {"url": f"https://127.0.0.1:{self.port}{path}", "caBundle": self.bundle}


def answer(review: Object, **response: Any) -> Object:
    """Return a review with an answer."""
    return {
        "kind": review["kind"],
        "apiVersion": review["apiVersion"],
        "response": {"uid": review["request"]["uid"], **response},
    }


def allow(review: Object, **more: Any) -> Object:
    """Say yes."""
    return answer(review, allowed=True, **more)


def deny(review: Object, **status: Any) -> Object:
    """Say no."""
    return answer(review, allowed=False, status=status)


def patch(review: Object, *operations: Object, **more: Any) -> Object:
    """Say yes, with changes."""
    text = base64.b64encode(json.dumps(operations).encode()).decode()
    return allow(review, patch=text, patchType="JSONPatch", **more)


@contextmanager
def hook_server(directory: Path, names: tuple[str, ...] = (), *, secure: bool = True) -> Iterator[HookServer]:
    """Run a server on loopback, with a certificate for its address and more names, or without TLS."""
    authority = tls.create_authority("hooks")
    pair = tls.issue(authority, "hooks", names=("127.0.0.1", "localhost", *names), server=True)

    class Handler(JsonHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            hooks.connections += 1

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            path = self.path.partition("?")[0]
            hooks.asked.append((path, review))
            said = hooks.respond(path, review)
            status, said, *more = said if isinstance(said, tuple) else (200, said)
            body = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.reply(body, status, more[0] if more else None)

    server = loopback_server(Handler)
    if secure:
        wrap(server, directory, "hook", pair)
    hooks = HookServer(server.server_address[1], authority.certificate)
    with served(server):
        yield hooks
