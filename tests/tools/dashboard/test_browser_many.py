"""Thirty thousand pods in the browser: first rows at once, only what is seen is drawn, changes and searches among them."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from socket import create_connection
from typing import Any

import pytest

from tests.servers import TOKEN, Server
from tests.servers import running as running_server
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.running import Dashboard

pytestmark = pytest.mark.slow
_PODS = 30_000
_NAMESPACE = "many"
_AT_ONCE = 100
_CREATED = b"HTTP/1.1 201 "


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server"), "--storage-backend=memory") as server:
        assert server.call("POST", "/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})[0] == 201
        _fill(server)
        yield server


def _fill(server: Server) -> None:
    """Make the pods: a hundred requests at once on one connection, which costs a test far less than a client does."""
    context = ssl.create_default_context(cafile=str(server.authority))
    with (
        create_connection(("127.0.0.1", server.port), timeout=120) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        for first in range(0, _PODS, _AT_ONCE):
            connection.sendall(b"".join(_request(number) for number in range(first, first + _AT_ONCE)))
            answers = b""
            while answers.count(_CREATED) < _AT_ONCE or not answers.endswith(b"}\n"):
                data = connection.recv(1 << 16)
                assert data and b"HTTP/1.1 4" not in answers, answers[-1000:]
                answers += data


def _request(number: int) -> bytes:
    """Return the creation of a pod that is like one of a deployment, on a node that is not there."""
    name = f"settings-{number:06}"
    container = {"name": "web", "image": "registry.example/shop/web:1.2.3"}
    spec = {"nodeName": f"node-{name[-3:]}", "containers": [container]}
    body = json.dumps({"metadata": {"name": name, "labels": {"tier": name[-1]}}, "spec": spec}).encode()
    head = (
        f"POST /api/v1/namespaces/{_NAMESPACE}/pods HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def test_thirty_thousand_pods(page: Any, dashboard: Dashboard, server: Server) -> None:
    log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/pods?ns={_NAMESPACE}")
    page.wait_for_selector(".space .row")
    page.wait_for_selector(f".count >> text=/^{_PODS}$/")
    assert page.locator(".space > .row").count() < 100
    # To the last row, and back to where a change is seen.
    page.focus(".rows")
    page.keyboard.press("End")
    page.wait_for_selector(f".chosen >> text=settings-{_PODS - 1:06}")
    assert page.locator(".space > .row").count() < 100
    page.fill("#filter", "settings-012345")
    page.wait_for_selector(f".count >> text=/^1 of {_PODS}$/")
    path = f"/api/v1/namespaces/{_NAMESPACE}/pods/settings-012345"
    merge = {"Content-Type": "application/merge-patch+json"}
    assert server.call("PATCH", f"{path}/status", {"status": {"phase": "Failed"}}, headers=merge)[0] == 200
    page.wait_for_selector(".cell.bad >> text=Failed")
    page.keyboard.press("Escape")
    page.fill("#search", "tier=7 29997")
    page.wait_for_selector(".hits b >> text=settings-029997")
    page.wait_for_selector(".hits .quiet:not(:has-text('still reading'))")
    summary = page.inner_text(".hits .quiet")
    assert int(summary.split(" of ")[1].split()[0]) >= _PODS
