"""Requests passed on to pods, services and nodes, with every method, and to nobody else.

The server runs in a network of its own, where pods can have addresses without touching the machine's.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.proxy.forwarding import proxyable
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.subresources import proxy
from pybernetes.control_plane.apiserver.subresources.proxy import checked_address, endpoints, parted
from pybernetes.lib.network import names
from tests.servers import Server, running
from tests.support import require_program

ADDRESS = "192.0.2.7"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
PODS, SERVICES = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


@pytest.mark.parametrize(
    ("address", "dialled"),
    [("10.0.0.1", "10.0.0.1"), ("8.8.8.8", "8.8.8.8"), ("fd00::1", "fd00::1"), ("FD00:0::1", "fd00::1"),
     ("010.0.0.1", "10.0.0.1"), ("::ffff:10.0.0.1", "10.0.0.1"),
     ("0177.0.0.1", "177.0.0.1"),  # which the C library reads as 127.0.0.1
     ("127.0.0.1", ""), ("127.1", ""), ("2130706433", ""), ("0x7f.0.0.1", ""), ("127.000.000.001", ""), ("::1", ""),
     ("", ""), ("169.254.169.254", ""), ("0.0.0.0", ""), ("224.0.0.1", ""), ("fe80::1", ""), ("fe80::1%lo", ""),
     ("x", ""), ("::ffff:127.0.0.1", ""), ("::ffff:169.254.169.254", ""), ("255.255.255.255", "")],
)  # fmt: skip
def test_addresses(address: str, dialled: str) -> None:
    """What was checked is what is dialled, digit by digit (CVE-2020-8555, CVE-2020-8562, CVE-2022-3294)."""
    assert proxyable(address) == dialled


async def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere the second time leads nobody there (CVE-2020-8562)."""
    answers = iter(("10.0.0.7", "127.0.0.1"))

    def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", (next(answers), 0))]

    monkeypatch.setattr(names.socket, "getaddrinfo", lookup)
    assert await checked_address("node.example") == "10.0.0.7"
    with pytest.raises(StatusError, match="address not allowed"):
        await checked_address("node.example")


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/api/v1/namespaces/n/pods/p/proxy", ("/api/v1/namespaces/n/pods/p/proxy", "")),
        ("/api/v1/namespaces/n/pods/p/proxy/", ("/api/v1/namespaces/n/pods/p/proxy", "")),
        (
            "/api/v1/namespaces/proxy/pods/proxy/proxy/a/proxy/b",
            ("/api/v1/namespaces/proxy/pods/proxy/proxy", "a/proxy/b"),
        ),
        (
            "/api/v1/namespaces/proxy-1/services/http:s:1/proxy//a",
            ("/api/v1/namespaces/proxy-1/services/http:s:1/proxy", "/a"),
        ),
        ("/api/v1/nodes/proxy/proxy/metrics", ("/api/v1/nodes/proxy/proxy", "metrics")),
    ],
)
def test_what_follows_proxy(path: str, wanted: tuple[str, str]) -> None:
    assert parted(path) == wanted


def endpoint(address: str, pod: str, namespace: str = "default", **more: Any) -> dict[str, Any]:
    return {
        "addresses": [address],
        "targetRef": {"kind": "Pod", "namespace": namespace, "name": pod},
        **more,
    }


@pytest.mark.parametrize(
    ("given", "reachable"),
    [
        (endpoint("10.0.0.5", "p"), True),
        (endpoint("10.0.0.6", "p"), False),
        (endpoint("10.0.0.5", "q"), False),
        (endpoint("10.0.0.5", "p", "other"), False),
        (endpoint("10.0.0.5", "p", conditions={"ready": False}), False),
        ({"addresses": ["10.0.0.5"]}, False),
    ],
)
def test_a_service_leads_to_its_pods_only(given: dict[str, Any], reachable: bool) -> None:
    piece = {"ports": [{"name": "web", "port": 80}], "endpoints": [given]}
    pods = {"p": {"status": {"podIPs": [{"ip": "10.0.0.5"}]}}}
    assert endpoints(piece, "default", "web", pods.get) == ([("10.0.0.5", 80)] if reachable else [])
    assert endpoints(piece, "default", "", pods.get) == []


@pytest.mark.e2e
def test_every_method(tmp_path: Path) -> None:
    require_program("unshare")
    require_program("ip")
    script = f"ip link set lo up && ip addr add {ADDRESS}/32 dev lo && exec {sys.executable} -m {__name__} {tmp_path}"
    done = subprocess.run(["unshare", "-rn", "sh", "-c", script], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


class Behind(BaseHTTPRequestHandler):
    """A web server in a pod: tells what it was asked."""

    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = f"{self.command} {self.path} {body.decode()}".encode()
        self.send_response(204 if "nothing" in self.path else 299)
        if "nothing" in self.path:
            self.end_headers()
            return
        self.send_header("Content-Length", str(len(told)))
        self.send_header("X-Asked", self.command)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(told)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = _answer

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


def prepare(server: Server, port: int) -> None:
    """A pod, its node and its service, as a kubelet and the controllers would leave them."""
    spec = {"nodeName": "n", "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": port}]}]}
    for name, address in (("p", ADDRESS), ("local", "127.0.0.1")):
        assert server.call("POST", PODS, {"metadata": {"name": name}, "spec": spec})[0] == 201
        status = {"status": {"podIP": address, "podIPs": [{"ip": address}]}}
        merge = {"Content-Type": "application/merge-patch+json"}
        assert server.call("PATCH", f"{PODS}/{name}/status", status, headers=merge)[0] == 200
        node = {
            "metadata": {"name": name},
            "status": {"addresses": [{"type": "InternalIP", "address": address}]},
        }
        assert server.call("POST", "/api/v1/nodes", node)[0] == 201
    service = {"metadata": {"name": "web"}, "spec": {"ports": [{"name": "http", "port": 80}]}}
    assert server.call("POST", SERVICES, service)[0] == 201
    piece = {"metadata": {"name": "web", "labels": {"kubernetes.io/service-name": "web"}}, "addressType": "IPv4",
             "ports": [{"name": "http", "port": port}],
             "endpoints": [endpoint(ADDRESS, "p")]}  # fmt: skip
    assert server.call("POST", SLICES, piece)[0] == 201


def main(directory: Path) -> None:
    """What the test does inside of the network."""
    behind = ThreadingHTTPServer((ADDRESS, 0), Behind)
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    port = behind.server_address[1]
    with running(directory, "--storage-backend=memory") as server:
        prepare(server, port)
        for base in (f"{PODS}/p", f"{PODS}/http:p:{port}", f"{SERVICES}/web:http", f"{SERVICES}/web:80",
                     f"/api/v1/nodes/p:{port}"):  # fmt: skip
            for method in METHODS:
                body = None if method in ("GET", "HEAD") else "body"
                answer = server.call(method, f"{base}/proxy/a/b%20c?d=e", body)
                told = "" if method == "HEAD" else f"{method} /a/b%20c?d=e {body or ''}"
                assert answer == (299, told), (method, base, answer)
            assert server.call("GET", f"{base}/proxy/nothing") == (204, "")
        for path, status, message in (
            (f"{PODS}/local/proxy/", 400, "address not allowed"),
            ("/api/v1/nodes/local/proxy/", 400, "address not allowed"),
            (f"{SERVICES}/web/proxy/", 503, 'no endpoints available for service "web"'),
            (f"{SERVICES}/web:81/proxy/", 503, 'no service port 81 found for service "web"'),
            (f"{SERVICES}/nope/proxy/", 503, 'no endpoints available for service "nope"'),
            (f"{SERVICES}/ftp:web:80/proxy/", 400, 'invalid service request "ftp:web:80"'),
            (f"{PODS}/a:b:c:d/proxy/", 400, 'invalid pod request "a:b:c:d"'),
            (f"{PODS}/p:%C2%B2/proxy/", 400, "invalid port '²'"),
        ):
            code, answer = server.call("GET", path)
            assert (code, answer["message"]) == (status, message), (path, answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))


async def test_what_this_server_passed_on_does_not_come_round() -> None:
    """A node that gave the server's own address made 400 requests of one with 400 proxies in its path."""
    connection: Any = None
    context: Any = None
    kind: Any = None
    headers = {proxy._PASSED_ON_BY: proxy._OWN_MARK.encode()}
    looped = Request(connection, "GET", "/api/v1/nodes/n/proxy/version", "", headers, b"")
    with pytest.raises(StatusError, match="address not allowed"):
        await proxy.handle(context, looped, kind)
