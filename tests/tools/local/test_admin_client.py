"""The calls of a cluster's administrator, and what they raise."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from pybernetes.lib.tls import tls
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.admin_client import AdminClient, ApiError
from pybernetes.tools.local.paths import Cluster
from tests import servers


def test_calls_and_refusals(tmp_path: Path) -> None:
    cluster = Cluster("admin-client", tmp_path)
    cluster.root.mkdir(parents=True)
    with servers.running(tmp_path) as server:
        certificates = tmp_path / "certs"
        authority = tls.Pair((certificates / "ca.crt").read_bytes(), (certificates / "ca.key").read_bytes())
        admin = tls.issue(authority, "kubernetes-admin", organizations=["system:masters"], client=True)
        address = f"https://127.0.0.1:{server.port}"
        kubeconfig.write(
            cluster.kubeconfig,
            kubeconfig.entries("c", address, authority.certificate, admin.certificate, admin.key),
        )
        client = AdminClient(cluster)
        assert client.is_ready() and client.call("GET", "/readyz") == {}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
        assert client.call("POST", "/api/v1/nodes", body=node)["metadata"]["uid"]
        with pytest.raises(ApiError, match="already exists") as refused:
            client.call("POST", "/api/v1/nodes", body=node)
        assert refused.value.status == 409
        patched = client.call("PATCH", "/api/v1/nodes/n", body={"metadata": {"labels": {"a": "b"}}})
        assert patched["metadata"]["labels"]["a"] == "b"
        assert client.ready_nodes() == set()
        ready = {
            "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}]
        }
        client.call("PATCH", "/api/v1/nodes/n/status", body={"status": ready})
        assert client.ready_nodes() == {"n"} and client.ready_nodes("2026-02-01T00:00:00Z") == set()
        client.call("DELETE", "/api/v1/nodes/n")
    assert not client.is_ready()
    with pytest.raises(OSError, match="connection refused"):
        client.call("GET", "/api/v1/nodes")


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
        with pytest.raises(ConnectionError):
            api.call("GET", "/api/v1/nodes")
        # Nobody knows of a node that is ready then, which is no reason to give up waiting for them.
        assert api.ready_nodes() == set()
        assert api.ready_nodes() == set()
        with pytest.raises(ApiError):
            api.ready_nodes()
        thread.join()
    assert api.ready_nodes() == set()  # nobody listens
