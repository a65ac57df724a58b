"""The dashboard as it runs in a pod: for whoever has a token, over TLS, with no rights of its own."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import TOKEN, Server
from tests.servers import running as running_server
from tests.support import end

pytestmark = pytest.mark.slow
_HOST = "localhost:18443"
_MANIFEST = Path(__file__).resolve().parents[3] / "examples" / "dashboard.yaml"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def port(server: Server) -> Iterator[int]:
    """Yield the port of a dashboard that believes that it is asked under another one, as behind a forwarded port."""
    command = [
        sys.executable, "-m", "pybernetes.cmd.main", "dashboard", "--in-cluster", "--address=127.0.0.1", "--port=18444",
        f"--host={_HOST}", f"--certificate-authority={server.authority}",
    ]  # fmt: skip
    pod = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.port)}
    process = subprocess.Popen(
        command, env={**os.environ, **pod}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Serving the dashboard at https://{_HOST}\n"
        yield 18444
    finally:
        end(process)


def _ask(port: int, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, str]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
    sent = {"Host": _HOST, "Origin": f"https://{_HOST}"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, sent)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_a_token_logs_in_and_the_cookie_stays_on_tls(port: int) -> None:
    status, headers, text = _ask(port, "POST", "/session", {"token": TOKEN})
    assert status == 200, text
    assert headers["Set-Cookie"].endswith("; HttpOnly; SameSite=Strict; Secure")
    about = json.loads(text)
    assert (about["user"], about["contexts"], about["onThisMachine"]) == ("admin", ["in-cluster"], False)
    page = {"Cookie": headers["Set-Cookie"].partition(";")[0], "X_Dashboard_Token": about["token"]}
    assert _ask(port, "GET", "/k8s/api/v1/namespaces", **page)[0] == 200
    assert _ask(port, "GET", "/k8s/api/v1/namespaces", **page, X_Dashboard_Context="other")[0] == 404
    # Another host of the domain could set a cookie without the prefix, and with it somebody else's session.
    bare = page | {"Cookie": page["Cookie"].removeprefix("__Host-")}
    assert bare != page and _ask(port, "GET", "/k8s/api/v1/namespaces", **bare)[0] == 401
    policy = _ask(port, "GET", "/")[1]["Content-Security-Policy"]
    assert f"connect-src 'self' wss://{_HOST};" in policy


@pytest.mark.parametrize(
    ("proof", "headers", "status"),
    [
        ({"code": ""}, {}, 401),
        ({"code": "guess"}, {}, 401),
        ({"token": "wrong"}, {}, 401),
        ({"token": ""}, {}, 400),
        ({"token": TOKEN}, {"Host": "127.0.0.1:18444"}, 421),
        ({"token": TOKEN}, {"Host": "localhost:18444"}, 421),
        ({"token": TOKEN}, {"Origin": f"http://{_HOST}"}, 403),
        ({"token": TOKEN}, {"Origin": "https://attacker.example"}, 403),
    ],
)
def test_others_do_not_get_in(port: int, proof: Any, headers: dict[str, str], status: int) -> None:
    assert _ask(port, "POST", "/session", proof, **headers)[0] == status


def test_the_manifest_is_taken_and_asks_for_no_rights(server: Server) -> None:
    objects = list(yaml.safe_load_all(_MANIFEST.read_text()))
    assert {obj["kind"] for obj in objects} == {
        "Namespace", "ServiceAccount", "Deployment", "Service", "NetworkPolicy"
    }  # fmt: skip
    printed = server.kubectl("apply", "-f", str(_MANIFEST))
    assert printed.count("created") == len(objects)
    deployment = next(obj for obj in objects if obj["kind"] == "Deployment")
    spec = deployment["spec"]["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    # The pod is one that the strictest standard takes.
    pod = {
        "metadata": {"name": "one", "namespace": "pybernetes-dashboard"},
        "spec": {**spec, "serviceAccountName": "default"},
    }
    status, answer = server.call("POST", "/api/v1/namespaces/pybernetes-dashboard/pods", pod)
    assert status == 201, answer
