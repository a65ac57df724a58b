"""The administrator's calls to an API server that ends meanwhile."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from pybernetes.lib import tls
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.admin_client import AdminClient, ApiError
from pybernetes.tools.local.paths import Cluster


def test_an_answer_that_breaks_off_is_a_lost_connection(tmp_path: Path) -> None:
    tls.ensure_authority(tmp_path)
    authority = tls.Pair((tmp_path / "ca.crt").read_bytes(), (tmp_path / "ca.key").read_bytes())
    pair = tls.issue(authority, "server", names=["127.0.0.1"], server=True, client=True)
    (tmp_path / "server.pem").write_bytes(pair.certificate + pair.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")

    answers = [
        b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"items":',
        b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"items":',
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
    ]
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for text in answers:
                with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                    connection.recv(65536)
                    connection.sendall(text)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        cluster = Cluster("broken", tmp_path)
        cluster.root.mkdir(parents=True)
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        kubeconfig.write(
            cluster.kubeconfig,
            kubeconfig.entries("broken", url, authority.certificate, pair.certificate, pair.key),
        )
        api = AdminClient(cluster)
        with pytest.raises(ConnectionError, match="IncompleteRead"):
            api.call("GET", "/api/v1/nodes")
        # Nobody knows of a node that is ready then, which is no reason to give up waiting for them.
        assert api.ready_nodes() == set()
        assert api.ready_nodes() == set()
        with pytest.raises(ApiError):
            api.ready_nodes()
        thread.join()
    assert api.ready_nodes() == set()  # nobody listens
