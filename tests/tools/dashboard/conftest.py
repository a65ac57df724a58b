"""A real browser for tests of pages: Debian's chromium, driven by playwright."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers import TOKEN
from tests.support import require_program
from tests.tools.dashboard.running import Dashboard

# Only a failure waits that long; machines that run tests can be slow and busy.
_MILLISECONDS = 120_000
# As root there is no sandbox, and in a container little shared memory.
_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]


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
