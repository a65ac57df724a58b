"""A real browser for tests of pages: Debian's chromium, driven by playwright."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import TOKEN, Server
from tests.support import require_program
from tests.tools.dashboard.running import Dashboard, running

# Only a failure waits that long; machines that run tests can be slow and busy.
_MILLISECONDS = 120_000
# As root there is no sandbox, and in a container little shared memory.
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


_CLONE_NEWNET = 0x40000000


@pytest.fixture(scope="module", autouse=True)
def _network_of_its_own() -> Iterator[None]:
    """Put the test, and what it starts, into a network of its own.

    Chromium gives requests up when an interface of its network comes or goes, as other tests make them.
    """
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as home:
        assert libc.unshare(_CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield
        finally:
            assert libc.setns(home.fileno(), _CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield a browser, the same for all tests of a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=require_program("chromium"), args=_FLAGS, timeout=_MILLISECONDS
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def dashboard(server: Server) -> Iterator[Dashboard]:
    """Yield a dashboard of the file's own server."""
    with running(server) as dashboard:
        yield dashboard


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Yield a page with nothing in its storage; errors of its scripts and refusals of its policy fail the test."""
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


def log_in(page: Any, dashboard: Dashboard, token: str = TOKEN) -> None:
    """Log in with a token, as a person does."""
    page.goto(dashboard.origin)
    page.fill("#token", token)
    page.click("button")
    page.wait_for_selector("#search")
