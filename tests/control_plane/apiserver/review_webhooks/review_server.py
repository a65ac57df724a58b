"""A server that answers reviews, for tests: over TLS or plainly, as a function says."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from pybernetes.lib import tls

Answer = Callable[[dict[str, Any]], "dict[str, Any] | tuple[int, bytes]"]


class ReviewServer:
    """The server: ``asked`` are the reviews so far, ``answer`` gives the status of each, or a code and a body."""

    def __init__(self, directory: Path, answer: Answer, *, secure: bool = True) -> None:
        self.asked: list[dict[str, Any]] = []
        self.tokens: list[str | None] = []
        self.answer = answer
        outer = self

        class Handler(BaseHTTPRequestHandler):
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
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        port = self.http.server_address[1]
        cluster: dict[str, Any] = {"server": f"http://127.0.0.1:{port}/review"}
        if secure:
            authority = tls.ensure_authority(directory, "reviews-ca", "reviews-ca")
            pair = tls.issue(
                tls.Pair(*(file.read_bytes() for file in authority)),
                "reviews",
                names=["127.0.0.1"],
                server=True,
            )
            for name, content in (("reviews.crt", pair.certificate), ("reviews.key", pair.key)):
                (directory / name).write_bytes(content)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(directory / "reviews.crt", directory / "reviews.key")
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
            cluster = {
                "server": f"https://127.0.0.1:{port}/review",
                "certificate-authority": str(authority[0]),
            }
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
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
        thread.join(10)
