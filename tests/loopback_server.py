"""What HTTP servers for tests share: answers in JSON, a certificate of their own, a thread that serves."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pybernetes.lib.tls import tls


class JsonHandler(BaseHTTPRequestHandler):
    """Answers in JSON, and is silent."""

    def reply(self, body: bytes, code: int = 200, headers: Mapping[str, str] | None = None) -> None:
        """Send an answer, with more headers."""
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def loopback_server(handler: type[BaseHTTPRequestHandler]) -> ThreadingHTTPServer:
    """Return a server on a free port, which is yet to be served by a thread."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    return server


def secure(server: ThreadingHTTPServer, directory: Path, name: str) -> Path:
    """Have a server speak TLS; return the certificate of the authority that vouches for it."""
    authority = tls.ensure_authority(directory, f"{name}-ca", f"{name}-ca")
    signer = tls.Pair(*(file.read_bytes() for file in authority))
    pair = tls.issue(signer, name, names=["127.0.0.1"], server=True)
    wrap(server, directory, name, pair)
    return authority[0]


def wrap(server: ThreadingHTTPServer, directory: Path, name: str, pair: tls.Pair) -> None:
    """Have a server show a certificate."""
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)


@contextmanager
def served(server: ThreadingHTTPServer) -> Iterator[None]:
    """Serve until the end of the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
