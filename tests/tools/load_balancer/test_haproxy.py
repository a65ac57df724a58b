"""A real HAProxy in front of two servers that tell what reached them."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pybernetes.lib.tls import tls
from pybernetes.tools.load_balancer import haproxy
from pybernetes.tools.load_balancer.plan import Plan, Server
from tests.support import end, require_program, until
from tests.tools.load_balancer.test_configuration import certificates


class Telling(BaseHTTPRequestHandler):
    """Answers with who it is, what it was told and who told it; ready at /readyz."""

    protocol_version = "HTTP/1.1"
    ready = True

    def do_GET(self) -> None:
        connection: Any = self.connection
        certificate = connection.getpeercert() or {}
        subject = [
            value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"
        ]
        body = json.dumps(
            {
                "server": connection.getsockname()[0],
                "headers": [[name.lower(), value] for name, value in self.headers.items()],
                "certificate": subject,
            }
        ).encode()
        if self.path == "/end":  # as a server that is killed
            self.close_connection = True
            return
        unready = self.path == "/readyz" and not self.ready
        # A front proxy that names nobody is refused.
        unready |= subject == ["front-proxy-client"] and "x-remote-user" not in self.headers
        self.send_response(500 if unready else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def telling(address: str, folder: Path) -> Iterator[int]:
    """Serve at an address, over TLS as an API server does."""
    server = ThreadingHTTPServer((address, 0), Telling)
    server.daemon_threads = True
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.crt"))
    context.load_cert_chain(folder / "apiserver.crt", folder / "apiserver.key")
    context.verify_mode = ssl.CERT_OPTIONAL
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Balanced:
    """HAProxy that runs, and clients of it."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        self.authority = tls.Pair((folder / "ca.crt").read_bytes(), (folder / "ca.key").read_bytes())

    def client(
        self, name: str = "", groups: tuple[str, ...] = (), authority: tls.Pair | None = None
    ) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        if name:
            pair = tls.issue(authority or self.authority, name, organizations=groups, client=True)
            file = self.folder / "client.pem"
            file.write_bytes(pair.certificate + pair.key)
            context.load_cert_chain(file)
        return context

    def ask(
        self, context: ssl.SSLContext, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPSConnection("127.0.0.1", self.plan.port, context=context, timeout=20)
        with contextlib.closing(connection):
            connection.request("GET", "/api", headers=headers or {})
            answer = connection.getresponse()
            body = answer.read()
            return answer.status, json.loads(body) if body.startswith(b"{") else {}

    def answer(self, context: ssl.SSLContext, method: str, path: str) -> tuple[int, str, str | None]:
        """Return the status, the reason, and when to ask again."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.plan.port, context=context, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())["reason"], answer.headers["Retry-After"]

    def health(self) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.plan.health_port, timeout=20)
        with contextlib.closing(connection):
            connection.request("GET", "/healthz")
            return connection.getresponse().status

    def told(
        self, context: ssl.SSLContext, headers: dict[str, str] | None = None
    ) -> tuple[list[str], list[str], list[str]]:
        """Return the users and groups that reached a server, and the certificate that they came with."""
        status, seen = self.ask(context, headers)
        assert status == 200
        values = [
            [value for name, value in seen["headers"] if name == wanted]
            for wanted in ("x-remote-user", "x-remote-group")
        ]
        assert not any(name.startswith(("x-remote-extra-", "x-remote-uid")) for name, _ in seen["headers"])
        return values[0], values[1], seen["certificate"]


@contextlib.contextmanager
def balanced(form: str, folder: Path, first: int, second: int, health: int = 200) -> Iterator[Balanced]:
    servers = (Server("one", "127.0.0.1", first), Server("two", "127.0.0.2", second))
    plan = Plan("127.0.0.3", servers, free_port(), certificates=str(folder), health_port=free_port())
    file = folder / "haproxy.cfg"
    file.write_text(haproxy.configuration(plan, form))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [require_program("haproxy"), "-db", "-f", str(file)], stdout=log, stderr=log
        )
    try:
        result = Balanced(folder, plan)

        until(lambda: result.health() == health, not_yet=(OSError,), story=(folder / "log").read_text)
        yield result
    finally:
        process.terminate()
        end(process)


@pytest.mark.parametrize("form", haproxy.FORMS)
def test_clients_go_on_when_a_server_is_gone(form: str, tmp_path: Path) -> None:
    certificates(tmp_path)
    with contextlib.ExitStack() as stack:
        first, second = contextlib.ExitStack(), contextlib.ExitStack()
        stack.enter_context(second)
        ports = (
            first.enter_context(telling("127.0.0.1", tmp_path)),
            second.enter_context(telling("127.0.0.2", tmp_path)),
        )
        with first, balanced(form, tmp_path, *ports) as balancer:
            everybody = {"127.0.0.1", "127.0.0.2"}
            context = balancer.client()
            until(lambda: {balancer.ask(context)[1]["server"] for _ in range(4)} == everybody)
            first.close()
            assert {balancer.ask(context)[1]["server"] for _ in range(6)} == {"127.0.0.2"}
            second.close()
            until(lambda: balancer.health() == 503)


@pytest.mark.parametrize("form", haproxy.FORMS)
def test_servers_that_are_not_ready_answer_when_no_other_does(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificates(tmp_path)
    monkeypatch.setattr(Telling, "ready", False)
    with telling("127.0.0.1", tmp_path) as first, balanced(form, tmp_path, first, 1) as balancer:
        context = balancer.client("a", ("b",))
        until(lambda: balancer.ask(context)[0] == 200, not_yet=(OSError,))
        assert balancer.health() == 200


@contextlib.contextmanager
def silent(address: str) -> Iterator[int]:
    """Take connections and say nothing, as an API server whose machine has too much to do."""
    with socket.create_server((address, 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("form", haproxy.FORMS)
def test_the_address_stays_when_all_servers_are_slow(form: str, tmp_path: Path) -> None:
    certificates(tmp_path)
    with silent("127.0.0.1") as port, balanced(form, tmp_path, port, 1) as balancer:
        # Until the check of the handshake has failed, too; the backends are listed by whether they have a server.
        until(lambda: "kube-apiserver has no server available" in (tmp_path / "log").read_text())
        assert balancer.health() == 200
        assert "kube-apiserver-any has no server available" not in (tmp_path / "log").read_text()


def test_layer_7_tells_errors_as_api_servers_do(tmp_path: Path) -> None:
    certificates(tmp_path)
    with telling("127.0.0.1", tmp_path) as first, balanced("l7", tmp_path, first, 1) as balancer:
        context = balancer.client("a")
        assert balancer.answer(context, "POST", "/end") == (504, "Timeout", "1")
        # What may be sent again is; HAProxy hangs up if it has sent it over a connection that it had kept.
        until(lambda: balancer.answer(context, "GET", "/end") == (504, "Timeout", "1"), not_yet=(OSError,))
    with balanced("l7", tmp_path, 1, 1, 503) as balancer:
        until(lambda: balancer.answer(balancer.client(), "GET", "/") == (503, "ServiceUnavailable", "1"))


def test_layer_7_says_who_a_client_is(tmp_path: Path) -> None:
    certificates(tmp_path)
    front_proxy, groups = ["front-proxy-client"], ("system:nodes", "a, b", "ü")
    lies = {
        "X-Remote-User": "admin",
        "x-remote-group": "system:masters",
        "X-REMOTE-UID": "1",
        "X-Remote-Extra-Scopes": "all",
    }
    most = tuple(f"g{number}" for number in range(16))
    with telling("127.0.0.1", tmp_path) as first, balanced("l7", tmp_path, first, 1) as balancer:
        users, told, certificate = balancer.told(balancer.client("system:node:n", groups), lies)
        assert (users, certificate) == (["system:node:n"], front_proxy)
        assert [value.encode("latin-1").decode() for value in told] == list(groups)
        # Without a certificate nothing is said, over a connection that may not say anything.
        assert balancer.told(balancer.client(), lies) == ([], [], [])
        assert balancer.told(balancer.client("many", most))[1] == list(most)


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("a\r\nX-Remote-Group: system:masters", ()),
        ("a\nb", ()),
        ("a", ("b\r\nX-Remote-Group: system:masters",)),
        ("a", tuple(f"g{number}" for number in range(17))),
    ],
)
def test_layer_7_refuses_certificates_that_it_cannot_pass_on(
    name: str, groups: tuple[str, ...], tmp_path: Path
) -> None:
    certificates(tmp_path)
    with telling("127.0.0.1", tmp_path) as first, balanced("l7", tmp_path, first, 1) as balancer:
        status, answer = balancer.ask(balancer.client(name, groups))
        assert (status, answer["reason"]) == (401, "Unauthorized")


def test_layer_7_refuses_certificates_of_strangers(tmp_path: Path) -> None:
    certificates(tmp_path)
    (tmp_path / "other").mkdir()
    tls.ensure_authority(tmp_path / "other")
    other = tls.Pair((tmp_path / "other/ca.crt").read_bytes(), (tmp_path / "other/ca.key").read_bytes())
    with telling("127.0.0.1", tmp_path) as first, balanced("l7", tmp_path, first, 1) as balancer:
        status, answer = balancer.ask(balancer.client("admin", ("system:masters",), other))
        assert (status, answer["reason"]) == (401, "Unauthorized")
