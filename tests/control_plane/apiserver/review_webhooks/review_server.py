"""A server that answers reviews, for tests: over TLS or plainly, as a function says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.loopback_server import JsonHandler, loopback_server, served
from tests.loopback_server import secure as encrypt

Answer = Callable[[dict[str, Any]], "dict[str, Any] | tuple[int, bytes]"]


class ReviewServer:
    """The server: ``asked`` are the reviews so far, ``answer`` gives the status of each, or a code and a body."""

    def __init__(self, directory: Path, answer: Answer, *, secure: bool = True) -> None:
        self.asked: list[dict[str, Any]] = []
        self.tokens: list[str | None] = []
        self.answer = answer
        outer = self

        class Handler(JsonHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(review)
                outer.tokens.append(self.headers.get("Authorization"))
                said = outer.answer(review)
                code, body = (
                    said
                    if isinstance(said, tuple)
                    else (200, json.dumps({**review, "status": said}).encode())
                )
                self.reply(body, code)

        self.http = loopback_server(Handler)
        port = self.http.server_address[1]
        cluster: dict[str, Any] = {"server": f"http://127.0.0.1:{port}/review"}
        if secure:
            authority = encrypt(self.http, directory, "reviews")
            cluster = {"server": f"https://127.0.0.1:{port}/review", "certificate-authority": str(authority)}
        self.kubeconfig = directory / f"reviews-{port}.kubeconfig"
        self.kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "kind": "Config",
                    "apiVersion": "v1",
                    "clusters": [{"name": "it", "cluster": cluster}],
                    "users": [{"name": "me", "user": {"token": "of-the-api-server"}}],
                    "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
                    "current-context": "it",
                }
            )
        )


@contextmanager
def reviewing(directory: Path, answer: Answer, *, secure: bool = True) -> Iterator[ReviewServer]:
    """Yield a server that answers reviews."""
    server = ReviewServer(directory, answer, secure=secure)
    with served(server.http):
        yield server
