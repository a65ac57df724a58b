"""The dashboard in a real browser: log-in, lists that are live, search, an object's page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import TOKEN, Server
from tests.servers import running as running_server
from tests.support import require_program
from tests.tools.dashboard.running import Dashboard, running

pytestmark = pytest.mark.slow
_MILLISECONDS = 60_000
# What an object may be named and say: markup must stay text.
_EVIL = "<img src=x onerror=\"document.title='caught'\"><script>document.title='caught'</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        for number in (*range(300), 777):
            config = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": f"settings-{number:04}",
                    "labels": {"tier": "odd" if number % 2 else "even"},
                },
                "data": {"evil": _EVIL},
            }
            assert server.call("POST", "/api/v1/namespaces/default/configmaps", config)[0] == 201
        evil = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "evil"},
            "involvedObject": {"kind": "ConfigMap", "name": "settings-0001", "namespace": "default"},
            "reason": "Attack",
            "message": _EVIL,
            "type": "Warning",
        }
        uid = server.call("GET", "/api/v1/namespaces/default/configmaps/settings-0001")[1]["metadata"]["uid"]
        evil["involvedObject"]["uid"] = uid  # type: ignore[index]
        status, answer = server.call("POST", "/api/v1/namespaces/default/events", evil)
        assert status == 201, answer
        yield server


@pytest.fixture(scope="module")
def dashboard(server: Server) -> Iterator[Dashboard]:
    with running(server) as dashboard:
        yield dashboard


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=require_program("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.set_default_timeout(_MILLISECONDS)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: problems.append(message.text) if "Content Security Policy" in message.text else None,
    )
    yield page
    context.close()
    assert problems == []


def _log_in(page: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.origin)
    page.fill("#token", TOKEN)
    page.click("button")
    page.wait_for_selector("#search")


def test_the_link_logs_in_once(page: Any, browser: Any, dashboard: Dashboard) -> None:
    page.goto(dashboard.link)
    page.wait_for_selector("text=admin @ test")
    assert "code" not in page.url
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    page.reload()
    page.wait_for_selector("text=admin @ test")
    other = browser.new_context().new_page()
    other.goto(dashboard.link)
    other.wait_for_selector("text=the link was used already")
    other.context.close()


def test_a_list_is_live_and_has_only_the_rows_that_are_seen(
    page: Any, dashboard: Dashboard, server: Server
) -> None:
    _log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/configmaps?ns=default")
    page.wait_for_selector(".count >> text=/^30\\d$/")
    assert page.locator(".space > .row").count() < 100
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "aaa-new"}}
    server.call("POST", "/api/v1/namespaces/default/configmaps", fresh)
    page.fill("#filter", "aaa-new")
    page.wait_for_selector(".space .cell >> text=aaa-new")
    assert "q=aaa-new" in page.url
    server.call("DELETE", "/api/v1/namespaces/default/configmaps/aaa-new")
    page.wait_for_selector(".space .cell >> text=aaa-new", state="detached")


def test_search_finds_by_label_and_leads_to_the_object(page: Any, dashboard: Dashboard) -> None:
    _log_in(page, dashboard)
    page.wait_for_selector(".table")
    page.keyboard.press("/")
    page.keyboard.type("tier=odd 0777")
    # While the watches of all kinds begin, the page asks again by itself.
    page.wait_for_selector(".hits b >> text=settings-0777")
    page.wait_for_selector(".hits small >> text=label tier=odd")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 b >> text=settings-0777")
    page.wait_for_selector(".label >> text=tier=odd")
    page.go_back()
    page.wait_for_selector(".table")


def test_what_objects_contain_stays_text(page: Any, dashboard: Dashboard) -> None:
    _log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/object/configmaps/default/settings-0001")
    page.wait_for_selector(".events .bad")
    assert "onerror" in page.inner_text(".events") and "onerror" in page.inner_text(".yaml")
    page.goto(f"{dashboard.origin}/#/list/events")
    page.wait_for_selector(".space .cell >> text=Attack")
    assert page.title() == "Pybernetes"
    assert page.locator("main img, main script").count() == 0


def test_a_dropped_connection_comes_back(page: Any, dashboard: Dashboard, server: Server) -> None:
    sockets: list[Any] = []

    def route(socket: Any) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/stream$"), route)
    _log_in(page, dashboard)
    page.goto(f"{dashboard.origin}/#/list/configmaps?ns=default&q=meanwhile")
    page.wait_for_selector(".count >> text=/^0 of 3/")
    sockets[0].close()
    fresh = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "meanwhile"}}
    server.call("POST", "/api/v1/namespaces/default/configmaps", fresh)
    page.wait_for_selector(".space .cell >> text=meanwhile")
    page.wait_for_selector(".light.live")
    assert len(sockets) == 2
