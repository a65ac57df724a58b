"""A TLS server names the authorities of its clients."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from pathlib import Path

from pybernetes.lib.tls import client_authorities, tls
from tests.support import require_program


def test_the_handshake_names_the_authorities(tmp_path: Path) -> None:
    """``openssl s_client`` prints the names that a server asks for."""
    openssl = require_program("openssl")
    authority, other = tls.create_authority("first-authority"), tls.create_authority("second-authority")
    pair = tls.issue(authority, "localhost", names=["localhost"], server=True)
    (tmp_path / "certificate").write_bytes(pair.certificate)
    (tmp_path / "key").write_bytes(pair.key)
    context = tls.server_context(tmp_path / "certificate", tmp_path / "key")
    context.verify_mode = ssl.CERT_OPTIONAL
    names = [ssl.PEM_cert_to_DER_cert(made.certificate.decode()) for made in (authority, other)]
    assert client_authorities.announce(context, names)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with context.wrap_socket(connection, server_side=True) as stream:
                stream.recv(1)

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        output = subprocess.run(
            [openssl, "s_client", "-connect", address], input="x", capture_output=True, text=True, timeout=60
        ).stdout
        server.join(60)
    asked = output.partition("Acceptable client certificate CA names")[2]
    assert "first-authority" in asked and "second-authority" in asked


def test_nonsense_is_left_out() -> None:
    assert client_authorities.announce(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), [b"no certificate", b""])
