"""The API server as a client of kubelets: they know it, and not its clients."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography import x509
from cryptography.x509.oid import NameOID

from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.authn.credentials import (
    World,
)


class Kubelet(BaseHTTPRequestHandler):
    """Answers with the name of the client's certificate and the headers that it got."""

    def do_GET(self) -> None:
        assert isinstance(self.connection, ssl.SSLSocket)
        certificate = x509.load_der_x509_certificate(self.connection.getpeercert(binary_form=True) or b"")
        (subject,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        body = json.dumps({"client": subject.value, "headers": [*map(str.lower, self.headers)]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def kubelet(world: World, authority: str) -> Iterator[int]:
    pair = tls.issue(world.authorities[authority], "kubelet", names=["127.0.0.1"], server=True)
    certificate, key = world.directory / "kubelet.crt", world.directory / "kubelet.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    context = tls.server_context(certificate, key, client_ca=world.directory / "clients.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    server = ThreadingHTTPServer(("127.0.0.1", 0), Kubelet)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_kubelets_know_the_server_and_not_its_clients(world: World) -> None:
    from tests.servers import TOKEN

    for authority, name in (("kubelets", "k1"), ("strangers", "k2")):
        with kubelet(world, authority) as port:
            status = {
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
            }
            node = {"metadata": {"name": name}, "status": status}
            assert world.server.call("POST", "/api/v1/nodes", node)[0] == 201
            headers = (("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"), ("Impersonate-User", "x"),
                       ("Impersonate-Group", "system:masters"), ("X-Other", "kept"))  # fmt: skip
            pod = {
                "metadata": {"name": name},
                "spec": {"nodeName": name, "containers": [{"name": "c", "image": "i"}]},
            }
            assert world.server.call("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201
            log = f"/api/v1/namespaces/default/pods/{name}/log"
            code, answer = world.call("GET", log, None, *headers, token=TOKEN)
        if authority == "strangers":
            assert code == 503 and "certificate" in str(answer), answer
            continue
        assert code == 200 and answer["client"] == "apiserver-kubelet-client", answer
        assert "x-other" in answer["headers"]
        for private in (
            "authorization",
            "x-remote-user",
            "x-remote-group",
            "impersonate-user",
            "impersonate-group",
        ):
            assert private not in answer["headers"]
