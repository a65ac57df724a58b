"""Thirty thousand pods in the browser: first rows at once, only what is seen is drawn, changes and searches among them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bench.dashboard import fill
from tests.servers import Server
from tests.servers import running as running_server
from tests.tools.dashboard.conftest import log_in
from tests.tools.dashboard.running import Dashboard, running

pytestmark = pytest.mark.slow
_PODS = 30_000
_NAMESPACE = "bench-dashboard"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server"), "--storage-backend=memory") as server:
        # In a thread of its own: the browser's loop is in this one.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(fill(str(server.kubeconfig), "pods", _PODS))).result()
        yield server


@pytest.fixture(scope="module")
def dashboard(server: Server) -> Iterator[Dashboard]:
    with running(server) as dashboard:
        yield dashboard


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
    found = page.inner_text(".hits .quiet")
    assert int(found.split(" of ")[1].split()[0]) >= _PODS
